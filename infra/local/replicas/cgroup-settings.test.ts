import { expect, test } from 'vitest';
import {
  cgroupPlaces,
  memoryKills,
  memorySettings,
  quotaSettings,
  sharesOf,
  weightOf,
  weightSettings,
  type GroupSettings,
} from './cgroup-settings.ts';

const written = (settings: GroupSettings): string[] =>
  settings.map(({ file, value }) => `${file}=${value}`);

test.each([
  [0, 2, 1],
  [150, 153, 6],
  [500, 512, 20],
  [1_000, 1_024, 39],
  [10_000, 10_240, 391],
])('%d millis requested: %d shares, weight %d, as kubelet and runc make them', (m, s, w) => {
  expect(sharesOf(m)).toBe(s);
  expect(weightOf(s)).toBe(w);
  expect(written(weightSettings('v1', m))).toEqual([`cpu.shares=${s}`]);
  expect(written(weightSettings('v2', m))).toEqual([`cpu.weight=${w}`]);
});

test.each([
  [300, 30_000],
  [2_000, 200_000],
  [10, 1_000],
  // The kernel takes nothing below 1 ms.
  [1, 1_000],
])('a limit of %d millis is %d µs in each 100 ms', (millis, quotaUs) => {
  expect(written(quotaSettings('v1', millis))).toEqual([
    'cpu.cfs_period_us=100000',
    `cpu.cfs_quota_us=${quotaUs}`,
  ]);
  expect(written(quotaSettings('v2', millis))).toEqual([`cpu.max=${quotaUs} 100000`]);
});

test('memorySettings: a limit, and no swap where the system counts it', () => {
  expect(memorySettings('v1', 67_108_864)).toEqual([
    { file: 'memory.limit_in_bytes', value: '67108864' },
    { file: 'memory.memsw.limit_in_bytes', value: '67108864', optional: true },
  ]);
  expect(written(memorySettings('v2', 67_108_864))).toEqual([
    'memory.max=67108864',
    'memory.swap.max=0',
    'memory.oom.group=1',
  ]);
});

test.each([
  ['v1', 'oom_kill_disable 0\nunder_oom 0\noom_kill 3\n', 3],
  ['v2', 'low 0\nhigh 0\nmax 9\noom 2\noom_kill 1\noom_group_kill 1\n', 1],
  ['an old kernel', 'oom_kill_disable 0\nunder_oom 0\n', 0],
])('memoryKills in %s', (_name, page, count) => {
  expect(memoryKills(page)).toBe(count);
});

const MOUNTS = [
  'tmpfs /sys/fs/cgroup tmpfs rw 0 0',
  'cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0',
  'cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0',
  'cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0',
].join('\n');
const OWN = '3:memory:/m\n2:cpu,cpuacct:/docker/1\n0::/user.slice/app.scope\n';
const UNIFIED = [
  { version: 'v2', folder: '/sys/fs/cgroup/unified/user.slice/app.scope' },
  { version: 'v2', folder: '/sys/fs/cgroup/unified/user.slice' },
  { version: 'v2', folder: '/sys/fs/cgroup/unified' },
];

test('cgroupPlaces: the own v1 group, then its root; in v2 the own group and those around it', () => {
  expect(cgroupPlaces(MOUNTS, OWN, 'cpu')).toEqual([
    { version: 'v1', folder: '/sys/fs/cgroup/cpu,cpuacct/docker/1' },
    { version: 'v1', folder: '/sys/fs/cgroup/cpu,cpuacct' },
    ...UNIFIED,
  ]);
  expect(cgroupPlaces(MOUNTS, OWN, 'memory')).toEqual([
    { version: 'v1', folder: '/sys/fs/cgroup/memory/m' },
    { version: 'v1', folder: '/sys/fs/cgroup/memory' },
    ...UNIFIED,
  ]);
  expect(cgroupPlaces('', OWN, 'cpu')).toEqual([]);
});

test('cgroupPlaces of a process in the root: each place once', () => {
  expect(cgroupPlaces('cgroup /c cgroup rw,cpu 0 0', '1:cpu:/', 'cpu')).toEqual([
    { version: 'v1', folder: '/c' },
  ]);
});

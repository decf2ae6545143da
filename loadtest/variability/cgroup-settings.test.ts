import { expect, test } from 'vitest';
import { cgroupPlaces, nodeGroups, sharesOf, weightOf } from './cgroup-settings.ts';

test.each([
  [0, 2, 1],
  [150, 153, 6],
  [500, 512, 20],
  [1_000, 1_024, 39],
  [10_000, 10_240, 391],
])('%d millicores requested: %d shares, weight %d, as kubelet and runc make them', (m, s, w) => {
  expect(sharesOf(m)).toBe(s);
  expect(weightOf(s)).toBe(w);
});

test('nodeGroups in v1: quota around, the classes in it', () => {
  const node = { name: 'a', millicores: 1_000, neighbours: 2 };
  expect(nodeGroups(node, 0, 500, 'v1')).toEqual([
    {
      path: 'node-1',
      settings: [
        ['cpu.cfs_period_us', '100000'],
        ['cpu.cfs_quota_us', '100000'],
      ],
    },
    { path: 'node-1/best-effort', settings: [['cpu.shares', '2']] },
    {
      path: 'node-1/guaranteed',
      settings: [
        ['cpu.shares', '512'],
        ['cpu.cfs_period_us', '100000'],
        ['cpu.cfs_quota_us', '50000'],
      ],
    },
    { path: 'node-1/neighbours', settings: [['cpu.shares', '307']] },
  ]);
});

test('nodeGroups in v2: the same by cpu.max and cpu.weight; a limit never above the node', () => {
  const node = { name: 'a', millicores: 500, neighbours: 0 };
  expect(nodeGroups(node, 2, 1_000, 'v2').map(({ path, settings }) => [path, ...settings])).toEqual(
    [
      ['node-3', ['cpu.max', '50000 100000']],
      ['node-3/best-effort', ['cpu.weight', '1']],
      ['node-3/guaranteed', ['cpu.weight', '20'], ['cpu.max', '50000 100000']],
      ['node-3/neighbours', ['cpu.weight', '1']],
    ],
  );
});

test('cgroupPlaces: the own v1 group, then its root; in v2 the own group and those around it', () => {
  const mounts = [
    'tmpfs /sys/fs/cgroup tmpfs rw 0 0',
    'cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0',
    'cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0',
    'cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0',
  ].join('\n');
  const own = '3:memory:/m\n2:cpu,cpuacct:/docker/1\n0::/user.slice/app.scope\n';
  expect(cgroupPlaces(mounts, own)).toEqual([
    { version: 'v1', folder: '/sys/fs/cgroup/cpu,cpuacct/docker/1' },
    { version: 'v1', folder: '/sys/fs/cgroup/cpu,cpuacct' },
    { version: 'v2', folder: '/sys/fs/cgroup/unified/user.slice/app.scope' },
    { version: 'v2', folder: '/sys/fs/cgroup/unified/user.slice' },
    { version: 'v2', folder: '/sys/fs/cgroup/unified' },
  ]);
  expect(cgroupPlaces('', own)).toEqual([]);
});

test('cgroupPlaces of a process in the root: each place once', () => {
  expect(cgroupPlaces('cgroup /c cgroup rw,cpu 0 0', '1:cpu:/')).toEqual([
    { version: 'v1', folder: '/c' },
  ]);
});

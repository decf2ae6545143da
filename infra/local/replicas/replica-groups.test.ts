import { expect, test } from 'vitest';
import { VirtualClock } from '#kernel/core/clock.ts';
import type { GroupFiles } from './group-files.ts';
import type { ReplicaResources } from './pool-workload.ts';
import { openReplicaGroups } from './replica-groups.ts';
import { fakeGroupFiles } from './testing/fake-group-files.ts';

const V1 = 'cgroup /cg/cpu cgroup rw,cpu 0 0\ncgroup /cg/mem cgroup rw,memory 0 0';
const V2 = 'cgroup2 /cg cgroup2 rw 0 0';
const OWN_V1 = '2:cpu:/\n1:memory:/own';

const open = (files: GroupFiles, platform = 'linux') =>
  openReplicaGroups({
    pid: 7,
    cores: 2,
    platform,
    clock: new VirtualClock(),
    isAlive: (pid) => pid === 7 || pid === 8,
    files,
  });

const RESOURCES: ReplicaResources = {
  cpuRequestMillis: 250,
  cpuLimitMillis: 600,
  memoryRequestBytes: 1,
  memoryLimitBytes: 67_108_864,
};
const NOTHING: ReplicaResources = {
  cpuRequestMillis: null,
  cpuLimitMillis: null,
  memoryRequestBytes: null,
  memoryLimitBytes: null,
};

const folders = ['/cg/cpu', '/cg/mem', '/cg/mem/own'];
const CPU = '/cg/cpu/tachograph-replicas-7-0';
const MEM = '/cg/mem/own/tachograph-replicas-7-0';

test('in v1 a replica has a group for CPU and one for memory, each with its settings', async () => {
  const system = fakeGroupFiles(V1, OWN_V1, { folders });
  const groups = await open(system.files);
  expect(groups.enforcement).toEqual({
    cpu: 'cgroup v1',
    memory: 'cgroup',
    why: `${CPU}; ${MEM}`,
  });
  expect(groups.folders).toEqual([CPU, MEM]);
  const group = await groups.open('export-0', null, RESOURCES);
  expect(group.joinFiles).toEqual([`${CPU}/export-0/cgroup.procs`, `${MEM}/export-0/cgroup.procs`]);
  expect(Object.fromEntries(system.written)).toEqual({
    [`${CPU}/cpu.shares`]: '2048',
    [`${CPU}/export-0/cpu.shares`]: '256',
    [`${CPU}/export-0/cpu.cfs_period_us`]: '100000',
    [`${CPU}/export-0/cpu.cfs_quota_us`]: '60000',
    [`${MEM}/export-0/memory.limit_in_bytes`]: '67108864',
    [`${MEM}/export-0/memory.memsw.limit_in_bytes`]: '67108864',
  });
  await group.remove();
  await groups.close();
  expect([...system.folders]).toEqual(folders);
});

test('in v2 both act on one group', async () => {
  const system = fakeGroupFiles(V2, '0::/a', { folders: ['/cg', '/cg/a'] });
  const groups = await open(system.files);
  const root = '/cg/a/tachograph-replicas-7-0';
  expect(groups.enforcement).toEqual({ cpu: 'cgroup v2', memory: 'cgroup', why: root });
  await groups.addNode('node-1', 500);
  const group = await groups.open('export-0', 'node-1', RESOURCES);
  expect(group.joinFiles).toEqual([`${root}/node-1/export-0/cgroup.procs`]);
  expect(Object.fromEntries(system.written)).toEqual({
    '/cg/a/cgroup.subtree_control': '+cpu +memory',
    [`${root}/cgroup.subtree_control`]: '+cpu +memory',
    [`${root}/cpu.weight`]: '79',
    [`${root}/node-1/cgroup.subtree_control`]: '+cpu +memory',
    [`${root}/node-1/cpu.max`]: '50000 100000',
    [`${root}/node-1/export-0/cpu.weight`]: '10',
    // No more than the node has.
    [`${root}/node-1/export-0/cpu.max`]: '50000 100000',
    [`${root}/node-1/export-0/memory.max`]: '67108864',
    [`${root}/node-1/export-0/memory.swap.max`]: '0',
    [`${root}/node-1/export-0/memory.oom.group`]: '1',
  });
  await groups.close();
  expect([...system.folders]).toEqual(['/cg', '/cg/a']);
});

test('in v2 a group with processes refuses, the one around it takes them; CPU without memory too', async () => {
  const system = fakeGroupFiles(V2, '0::/a/b.scope', {
    folders: ['/cg', '/cg/a', '/cg/a/b.scope'],
    refuses: (path, text) =>
      path === '/cg/a/b.scope/cgroup.subtree_control' || text.includes('+memory'),
  });
  const groups = await open(system.files);
  expect(groups.enforcement).toMatchObject({ cpu: 'cgroup v2', memory: 'watched' });
  expect(groups.enforcement.why).toContain('/cg/a/tachograph-replicas-7-0; memory: ');
  expect(groups.folders).toEqual(['/cg/a/tachograph-replicas-7-0']);
});

test('a replica that asks for nothing has the least weight and no limit', async () => {
  const system = fakeGroupFiles(V1, OWN_V1, { folders });
  const groups = await open(system.files);
  await groups.open('export-0', null, NOTHING);
  const own = [...system.written].filter(([path]) => path.includes('export-0'));
  expect(own).toEqual([[`${CPU}/export-0/cpu.shares`, '2']]);
});

test('a replica whose group cannot be made leaves nothing of it', async () => {
  const refuses = (path: string): boolean => path.endsWith('cpu.cfs_quota_us');
  const system = fakeGroupFiles(V1, OWN_V1, { folders, refuses });
  const groups = await open(system.files);
  await expect(groups.open('export-0', null, RESOURCES)).rejects.toThrow('EBUSY');
  expect([...system.folders].filter((path) => path.includes('export-0'))).toEqual([]);
});

test('a system without swap accounting is fine', async () => {
  const system = fakeGroupFiles(V1, OWN_V1, { folders });
  const files: GroupFiles = {
    ...system.files,
    writeFile: async (path, text) => {
      if (path.includes('memsw')) throw Object.assign(new Error('EACCES'), { code: 'EACCES' });
      await system.files.writeFile(path, text);
    },
  };
  const groups = await open(files);
  await groups.open('export-0', null, RESOURCES);
  expect(system.written.get(`${MEM}/export-0/memory.limit_in_bytes`)).toBe('67108864');
});

test('memoryKills is what the kernel counts in the group', async () => {
  const pages = new Map([[`${MEM}/export-0/memory.oom_control`, 'under_oom 0\noom_kill 2\n']]);
  const groups = await open(fakeGroupFiles(V1, OWN_V1, { folders, pages }).files);
  const group = await groups.open('export-0', null, RESOURCES);
  expect(await group.memoryKills()).toBe(2);
});

test('two clusters of one process have a root each; more than 64 are refused', async () => {
  const taken = Array.from(
    { length: 63 },
    (_, number) => `/cg/cpu/tachograph-replicas-7-${number}`,
  );
  const { files } = fakeGroupFiles(V1, OWN_V1, { folders: [...folders, ...taken] });
  expect((await open(files)).folders).toEqual([
    '/cg/cpu/tachograph-replicas-7-63',
    '/cg/mem/own/tachograph-replicas-7-0',
  ]);
  expect((await open(files)).enforcement.cpu).toBe('none');
});

test('what a killed cluster left is removed, unless a process is still in it', async () => {
  const left = ['/cg/cpu/tachograph-replicas-6-0', '/cg/cpu/tachograph-replicas-6-0/export-0'];
  const system = fakeGroupFiles(V1, OWN_V1, {
    folders: [...folders, ...left, '/cg/cpu/tachograph-replicas-8-0', '/cg/cpu/other'],
  });
  await open(system.files);
  expect(system.folders.has(left[0] ?? '')).toBe(false);
  expect(system.folders.has('/cg/cpu/tachograph-replicas-8-0')).toBe(true);
  expect(system.folders.has('/cg/cpu/other')).toBe(true);
});

test('without permission nothing is enforced but memory, by watching, and nothing is left', async () => {
  const refuses = (path: string): boolean => path.includes('tachograph');
  const system = fakeGroupFiles(V1, OWN_V1, { folders, refuses });
  const groups = await open(system.files);
  expect(groups.enforcement).toMatchObject({ cpu: 'none', memory: 'watched' });
  expect(groups.enforcement.why).toMatch(/^cpu: \/cg\/cpu: EACCES.*; memory: \/cg\/mem\/own: EACC/);
  const group = await groups.open('export-0', null, RESOURCES);
  expect([group.joinFiles, await group.memoryKills(), groups.folders]).toEqual([[], 0, []]);
  await group.remove();
  await groups.addNode('node-1', 500);
  await groups.removeNode('node-1');
  await groups.close();
  expect([...system.folders]).toEqual(folders);
});

test('on another system, or without cgroups, nothing is enforced', async () => {
  const { files } = fakeGroupFiles('', '', { folders: [] });
  expect((await open(files, 'darwin')).enforcement).toEqual({
    cpu: 'none',
    memory: 'none',
    why: 'darwin has no cgroups',
  });
  expect((await open(files)).enforcement.why).toBe(
    'cpu: no such cgroups are mounted; memory: no such cgroups are mounted',
  );
});

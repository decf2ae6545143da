import { expect, test } from 'vitest';
import type { GroupFiles } from '#infra/local/replicas/group-files.ts';
import { fakeGroupFiles } from '#infra/local/replicas/testing/fake-group-files.ts';
import { VirtualClock } from '#kernel/core/clock.ts';
import { openNodeGroups, type NodeGroupsOptions } from './node-groups.ts';
import { exampleStudy } from './testing/example-study.ts';

const V1 = 'cgroup /cg cgroup rw,cpu 0 0';
const V2 = 'cgroup2 /cg cgroup2 rw 0 0';

const study = exampleStudy();
const options = (files: GroupFiles): NodeGroupsOptions => ({
  pid: 7,
  clock: new VirtualClock(),
  platform: 'linux',
  isAlive: (pid) => pid === 7 || pid === 8,
  files,
});

test('openNodeGroups in v1: groups with their settings, all gone at the end', async () => {
  const { files, folders, written } = fakeGroupFiles(V1, '1:cpu:/own', {
    folders: ['/cg', '/cg/own'],
  });
  const groups = await openNodeGroups(study, options(files));
  expect(groups.enforcement).toEqual({
    enforced: true,
    cgroup: 'v1',
    detail: '/cg/own/tachograph-variability-7',
  });
  const root = '/cg/own/tachograph-variability-7';
  expect(folders.has(`${root}/node-5/guaranteed`)).toBe(true);
  expect(written.get(`${root}/node-1/cpu.cfs_quota_us`)).toBe('100000');
  expect(written.get(`${root}/node-1/best-effort/cpu.shares`)).toBe('2');
  expect(groups.probeJoinFile('node-2', 'guaranteed')).toBe(
    `${root}/node-2/guaranteed/cgroup.procs`,
  );
  expect(groups.neighboursJoinFile('node-5')).toBe(`${root}/node-5/neighbours/cgroup.procs`);
  await groups.close();
  expect([...folders]).toEqual(['/cg', '/cg/own']);
});

test('openNodeGroups in v2: a group with processes refuses, the one around it takes them', async () => {
  const refuses = (path: string): boolean => path === '/cg/a/b.scope/cgroup.subtree_control';
  const { files, written } = fakeGroupFiles(V2, '0::/a/b.scope', {
    folders: ['/cg', '/cg/a', '/cg/a/b.scope'],
    refuses,
  });
  const groups = await openNodeGroups(study, options(files));
  const root = '/cg/a/tachograph-variability-7';
  expect(groups.enforcement).toMatchObject({ enforced: true, cgroup: 'v2', detail: root });
  expect(written.get(`${root}/cgroup.subtree_control`)).toBe('+cpu');
  expect(written.get(`${root}/node-1/cgroup.subtree_control`)).toBe('+cpu');
  expect(written.get(`${root}/node-1/cpu.max`)).toBe('100000 100000');
});

test('openNodeGroups without permission: names only, with the reason, and nothing left', async () => {
  const refuses = (path: string): boolean => path.endsWith('node-3/guaranteed');
  const { files, folders } = fakeGroupFiles(V1, '1:cpu:/', { folders: ['/cg'], refuses });
  const groups = await openNodeGroups(study, options(files));
  expect(groups.enforcement).toMatchObject({ enforced: false, cgroup: null });
  expect(groups.enforcement.detail).toContain('EACCES');
  expect(groups.probeJoinFile('node-1', 'guaranteed')).toBeNull();
  expect([...folders]).toEqual(['/cg']);
  await groups.close();
});

test('openNodeGroups: removes what a killed study left, not what a living one uses', async () => {
  const left = '/cg/tachograph-variability-6';
  const { files, folders } = fakeGroupFiles(V1, '1:cpu:/', {
    folders: ['/cg', left, `${left}/node-1`, '/cg/tachograph-variability-8', '/cg/other'],
  });
  await openNodeGroups(study, options(files));
  expect(folders.has(left)).toBe(false);
  expect(folders.has('/cg/tachograph-variability-8')).toBe(true);
  expect(folders.has('/cg/other')).toBe(true);
});

test('close of a group whose process is just going: tried again, and given up in the end', async () => {
  const { files, busy, folders } = fakeGroupFiles(V1, '1:cpu:/', { folders: ['/cg'] });
  const clock = new VirtualClock();
  const groups = await openNodeGroups(study, { ...options(files), clock });
  const group = '/cg/tachograph-variability-7/node-5/neighbours';
  busy.set(group, 3);
  const closing = groups.close();
  while (folders.has(group)) await clock.advance(20);
  await closing;
  expect([...folders]).toEqual(['/cg']);
  const again = await openNodeGroups(study, { ...options(files), clock });
  busy.set(group, Number.POSITIVE_INFINITY);
  const failing = again.close().catch((error: unknown) => error);
  for (let pause = 0; pause < 60; pause++) await clock.advance(20);
  expect(await failing).toMatchObject({ code: 'EBUSY' });
});

test('openNodeGroups on another system: names only', async () => {
  const { files } = fakeGroupFiles('', '', { folders: [] });
  const here = options(files);
  expect((await openNodeGroups(study, { ...here, platform: 'darwin' })).enforcement.detail).toBe(
    'darwin has no cgroups',
  );
  expect((await openNodeGroups(study, here)).enforcement.detail).toBe('no cgroups are mounted');
});

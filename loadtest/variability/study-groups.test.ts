import { expect, test } from 'vitest';
import { nodeGroups } from './study-groups.ts';

test('nodeGroups in v1: quota around, the classes in it', () => {
  const node = { name: 'a', millicores: 1_000, neighbours: 2 };
  expect(nodeGroups(node, 0, 500, 'v1')).toEqual([
    {
      path: 'node-1',
      settings: [
        { file: 'cpu.cfs_period_us', value: '100000' },
        { file: 'cpu.cfs_quota_us', value: '100000' },
      ],
    },
    { path: 'node-1/best-effort', settings: [{ file: 'cpu.shares', value: '2' }] },
    {
      path: 'node-1/guaranteed',
      settings: [
        { file: 'cpu.shares', value: '512' },
        { file: 'cpu.cfs_period_us', value: '100000' },
        { file: 'cpu.cfs_quota_us', value: '50000' },
      ],
    },
    { path: 'node-1/neighbours', settings: [{ file: 'cpu.shares', value: '307' }] },
  ]);
});

test('nodeGroups in v2: the same by cpu.max and cpu.weight; a limit never above the node', () => {
  const node = { name: 'a', millicores: 500, neighbours: 0 };
  const found = nodeGroups(node, 2, 1_000, 'v2').map(({ path, settings }) => [
    path,
    ...settings.map(({ file, value }) => `${file}=${value}`),
  ]);
  expect(found).toEqual([
    ['node-3', 'cpu.max=50000 100000'],
    ['node-3/best-effort', 'cpu.weight=1'],
    ['node-3/guaranteed', 'cpu.weight=20', 'cpu.max=50000 100000'],
    ['node-3/neighbours', 'cpu.weight=1'],
  ]);
});

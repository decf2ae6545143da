import { expect, test } from 'vitest';
import type { NodeRow } from '#infra/local/cluster-records.ts';
import { VirtualClock } from '#kernel/core/clock.ts';
import { silentLog } from '#kernel/system/log.ts';
import { LocalNodes, MAX_NODES, type LocalNodesOptions } from './local-nodes.ts';
import { noGroups } from './replica-groups.ts';
import { fakePool } from './testing/fake-pool.ts';
import { settled } from './testing/fake-process.ts';

async function openNodes(over: Partial<LocalNodesOptions> = {}) {
  const clock = new VirtualClock();
  const rows: NodeRow[] = [];
  const nodes = await LocalNodes.open({
    count: 1,
    cpuMillis: 500,
    addNodeMs: 20_000,
    clock,
    originMs: 0,
    log: silentLog,
    onRow: (row) => rows.push(row),
    ...over,
  });
  const story = (): string[] => rows.map((row) => `${row.atMs} ${row.node} ${row.phase}`);
  return { nodes, clock, story };
}

const never = new AbortController().signal;

test('a node that is added is available after its time; asking again changes nothing', async () => {
  const { nodes, clock, story } = await openNodes();
  nodes.setNodes(2);
  nodes.setNodes(2);
  expect(nodes.observe().map(({ name, available }) => [name, available])).toEqual([
    ['node-1', true],
    ['node-2', false],
  ]);
  await clock.advance(20_000);
  await settled();
  expect(nodes.observe().map(({ available }) => available)).toEqual([true, true]);
  expect(story()).toEqual(['0 node-1 available', '0 node-2 adding', '20000 node-2 available']);
});

test('of too many nodes those go first that are not there yet, then the youngest', async () => {
  const { nodes, clock, story } = await openNodes({ count: 2 });
  nodes.setNodes(3);
  nodes.setNodes(1);
  await clock.advance(20_000);
  expect(nodes.observe().map(({ name }) => name)).toEqual(['node-1']);
  expect(story().slice(2)).toEqual(['0 node-3 adding', '0 node-3 removed', '0 node-2 removed']);
  nodes.setNodes(2);
  expect(nodes.observe().map(({ name }) => name)).toEqual(['node-1', 'node-4']);
  nodes.close();
  nodes.setNodes(5);
  await settled();
  expect([nodes.observe().length, clock.sleeping]).toEqual([2, 0]);
});

test('setNodes beyond the bounds asks for the bound', async () => {
  const { nodes } = await openNodes();
  nodes.setNodes(1_000);
  expect(nodes.observe()).toHaveLength(MAX_NODES);
  nodes.setNodes(-3);
  expect(nodes.observe()).toHaveLength(0);
});

test('a replica waits while no node has room; a smaller one may pass it', async () => {
  const { nodes, clock } = await openNodes();
  expect(await nodes.acquire('a-0', 400, never)).toBe('node-1');
  const placed: string[] = [];
  void nodes.acquire('a-1', 400, never).then((node) => placed.push(`a-1 ${node}`));
  void nodes.acquire('b-0', 100, never).then((node) => placed.push(`b-0 ${node}`));
  await settled();
  expect([placed, nodes.pending]).toEqual([['b-0 node-1'], 1]);
  nodes.setNodes(2);
  await clock.advance(20_000);
  await settled();
  expect([placed, nodes.pending]).toEqual([['b-0 node-1', 'a-1 node-2'], 0]);
});

test('a replica that goes makes room; one that gives up waits no longer', async () => {
  const { nodes } = await openNodes();
  await nodes.acquire('a-0', 500, never);
  const giveUp = new AbortController();
  const rejected = expect(nodes.acquire('a-1', 500, giveUp.signal)).rejects.toThrow('gave up');
  const next = nodes.acquire('a-2', 500, never);
  giveUp.abort(new Error('gave up'));
  await rejected;
  await nodes.release('a-0');
  expect([await next, nodes.pending]).toEqual(['node-1', 0]);
});

test('utilisation is CPU used ÷ CPU share since the last look', async () => {
  const { nodes, clock } = await openNodes();
  expect(nodes.observe()).toEqual([{ name: 'node-1', available: true, utilisation: null }]);
  await clock.advance(2_000);
  nodes.charge('node-1', 400);
  nodes.charge('node-1', 100);
  nodes.charge('node-9', 1_000);
  nodes.charge(null, 1_000);
  nodes.sampled();
  // 500 ms in 2 s of half a CPU.
  expect(nodes.observe()[0]?.utilisation).toBe(0.5);
  expect(nodes.observe()[0]?.utilisation).toBeNull();
  await clock.advance(1_000);
  nodes.charge('node-1', 500);
  nodes.sampled();
  expect(nodes.observe()[0]?.utilisation).toBe(1);
});

test('a node is a group with a quota as long as a replica is on it', async () => {
  const calls: string[] = [];
  const groups = {
    ...noGroups('a test', 'linux'),
    addNode: async (name: string, cpuMillis: number) => void calls.push(`+${name} ${cpuMillis}`),
    removeNode: async (name: string) => void calls.push(`-${name}`),
  };
  const { nodes, clock } = await openNodes({ groups });
  await nodes.acquire('a-0', 100, never);
  nodes.setNodes(0);
  expect(calls).toEqual(['+node-1 500']);
  await nodes.release('a-0');
  expect(calls).toEqual(['+node-1 500', '-node-1']);
  nodes.setNodes(1);
  await clock.advance(20_000);
  await settled();
  expect(calls.at(-1)).toBe('+node-2 500');
});

test('a node that cannot be made is given up, and may be asked for again', async () => {
  const groups = {
    ...noGroups('a test', 'linux'),
    addNode: async (name: string) => {
      if (name === 'node-2') throw new Error('EACCES');
    },
  };
  const { nodes, clock, story } = await openNodes({ groups });
  nodes.setNodes(2);
  await clock.advance(20_000);
  await settled();
  expect(story().at(-1)).toBe('20000 node-2 removed');
  nodes.setNodes(2);
  await clock.advance(20_000);
  await settled();
  expect(story().at(-1)).toBe('40000 node-3 available');
});

const RESOURCES = {
  cpuRequestMillis: 500,
  cpuLimitMillis: null,
  memoryRequestBytes: null,
  memoryLimitBytes: null,
};

test('the pool puts replicas on nodes, charges them, and drains those of a node that goes', async () => {
  const { nodes } = await openNodes({ count: 2 });
  const { pool, workload, scale, listen, names, rows, story, usage, clock } = fakePool({ nodes });
  pool.add(workload('export', { resources: RESOURCES }));
  await scale('export', 3);
  await listen('export-0', 'export-1');
  expect(story('export-2')).toEqual(['pending']);
  expect(rows.filter(({ phase }) => phase === 'ready').map(({ node }) => node)).toEqual([
    'node-1',
    'node-2',
  ]);
  usage.set(1, { cpuMs: 100, memoryBytes: 1 });
  await clock.advance(1_000);
  pool.setNodes(1);
  // As the node-based policy does: with the node goes a replica of each Service.
  await scale('export', 1);
  expect(names('export')).toEqual(['export-0']);
  expect(story('export-1').slice(-2)).toEqual([
    'draining: its node was removed',
    'gone: its node was removed',
  ]);
  expect(pool.observeNodes().map(({ name }) => name)).toEqual(['node-1']);
});

test('replicas of a node that goes are replaced where there is room', async () => {
  const { nodes } = await openNodes({ count: 2 });
  const { pool, workload, scale, listen, names, story } = fakePool({ nodes });
  pool.add(workload('export', { resources: RESOURCES }));
  await scale('export', 2);
  await listen('export-0', 'export-1');
  pool.setNodes(1);
  await settled();
  expect(names('export')).toEqual(['export-0', 'export-2']);
  expect(story('export-2')).toEqual(['pending']);
});

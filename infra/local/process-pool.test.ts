import { expect, test } from 'vitest';
import { must } from '#kernel/core/assert.ts';
import { VirtualClock } from '#kernel/core/clock.ts';
import { silentLog } from '#kernel/system/log.ts';
import { ProcessPool, type PoolService } from './process-pool.ts';
import { FakeProcess, settled } from './testing/fake-process.ts';

function createPool() {
  const clock = new VirtualClock();
  const children = new Map<string, FakeProcess>();
  const seen: [string, string, number | undefined][] = [];
  const pool = new ProcessPool({
    clock,
    log: silentLog,
    readyWithinMs: 5_000,
    drainMs: 2_000,
    onReplica: (...change) => seen.push(change),
  });
  const service = (name: string, replicas = 1): PoolService => ({
    name,
    replicas,
    logPath: `/logs/${name}.log`,
    start: (replica) => {
      const child = new FakeProcess(children.size + 1);
      children.set(replica, child);
      return child;
    },
  });
  const child = (name: string): FakeProcess => must(children.get(name), name);
  return { pool, service, child, seen, clock };
}

test('ProcessPool.add resolves when every replica is ready, and reports each port', async () => {
  const { pool, service, child, seen } = createPool();
  let ready = false;
  const added = pool.add(service('export', 2)).then(() => (ready = true));
  child('export-0').listen(10);
  await settled();
  expect(ready).toBe(false);
  child('export-1').listen(11);
  await added;
  expect(seen.filter(([, , port]) => port !== undefined)).toEqual([
    ['export', 'export-0', 10],
    ['export', 'export-1', 11],
  ]);
});

test('ProcessPool.add rejects with end and log when a replica ends before it was ready', async () => {
  const { pool, service, child } = createPool();
  const added = pool.add(service('export'));
  child('export-0').end(2);
  await expect(added).rejects.toMatchObject({
    code: 'STAGE_START_FAILED',
    fields: { service: 'export', detail: 'exit code 2', log: '/logs/export.log' },
  });
  await pool.stopAll();
});

test('ProcessPool.add rejects when a replica is not ready in time', async () => {
  const { pool, service, clock } = createPool();
  const added = expect(pool.add(service('export'))).rejects.toThrow('not ready within 5000 ms');
  await clock.advance(5_000);
  await added;
  await pool.stopAll();
});

test('ProcessPool.stop ends a pending add, and the named Services only', async () => {
  const { pool, service, child } = createPool();
  const added = pool.add(service('export'));
  const other = pool.add(service('campaign'));
  child('campaign-0').listen(1);
  await other;
  const rejected = expect(added).rejects.toThrow('it was stopped');
  await pool.stop(['export', 'unknown']);
  await rejected;
  expect(pool.status().map(({ name, replicas }) => [name, replicas[0]?.phase])).toEqual([
    ['export', 'gone'],
    ['campaign', 'ready'],
  ]);
  await pool.stopAll();
  expect(child('campaign-0').signals).toEqual(['SIGTERM']);
});

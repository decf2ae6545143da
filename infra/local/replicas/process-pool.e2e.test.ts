import { readdirSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { isAlive } from './is-alive.ts';
import { until } from '#infra/local/testing/processes.ts';
import { must } from '#kernel/core/assert.ts';
import { probeHealth } from './liveness.ts';
import { NOBODY_WAITS } from './testing/fake-pool.ts';
import { realPool } from './testing/real-pool.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});
const newPool: typeof realPool = (over) => {
  const one = realPool(over);
  open.push(one);
  return one;
};

const never = new AbortController().signal;

test('a replica starts, answers on its socket, tells its phases, and leaves nothing', async () => {
  const { pool, workload, coldStarts, rows, folder } = newPool();
  pool.add(workload('export', ''));
  pool.scale('export', 1, { decidedMs: 0, requestedMs: 0 });
  await pool.untilReady('export');
  const [replica] = pool.status()[0]?.replicas ?? [];
  const { address, pid } = must(replica, 'a replica');
  expect(address).toEqual({ socketPath: `${folder}/export-0.1.sock` });
  expect(await probeHealth(must(address, 'its address'), never)).toBe(true);
  pool.firstResponse('export', 'export-0');
  const [row] = coldStarts;
  expect(row?.bootedMs).toBeGreaterThanOrEqual(row?.spawnedMs ?? Infinity);
  expect(row?.listeningMs).toBeGreaterThan(row?.bootedMs ?? Infinity);
  expect(row?.firstResponseMs).toBeGreaterThanOrEqual(row?.listeningMs ?? Infinity);
  await pool.stop(['export']);
  expect(rows.map(({ phase }) => phase)).toEqual([
    'pending',
    'launching',
    'ready',
    'draining',
    'gone',
  ]);
  expect(isAlive(must(pid, 'its process'))).toBe(false);
  expect(readdirSync(folder).filter((name) => name.endsWith('.sock'))).toEqual([]);
});

test('a replica that is killed is started again under its name, on a socket of its own', async () => {
  const { pool, workload, folder } = newPool();
  pool.add(workload('export', ''));
  pool.scale('export', 1, NOBODY_WAITS);
  await pool.untilReady('export');
  process.kill(must(pool.status()[0]?.replicas[0]?.pid, 'its process'), 'SIGKILL');
  const again = await until(() => {
    const [replica] = pool.status()[0]?.replicas ?? [];
    return replica?.phase === 'ready' && replica.restarts === 1 ? replica : undefined;
  });
  expect(again).toMatchObject({
    name: 'export-0',
    lastEnd: 'signal SIGKILL',
    address: { socketPath: `${folder}/export-0.2.sock` },
  });
});

test('a replica that never says that it listens does not keep another Service from starting', async () => {
  const { pool, workload, rows } = newPool({
    startSlots: 1,
    maxSlotMs: 200,
    readyWithinMs: 2_000,
  });
  pool.add(workload('silent', 'silent'));
  pool.add(workload('export', ''));
  pool.scale('silent', 1, NOBODY_WAITS);
  pool.scale('export', 1, NOBODY_WAITS);
  await pool.untilReady('export');
  await until(() => rows.some(({ why }) => why === 'not ready within 2000 ms'));
});

test('a replica that hangs is found, and started again', async () => {
  const { pool, workload, rows } = newPool({
    probe: { probe: probeHealth, periodMs: 50, timeoutMs: 200, failures: 2 },
  });
  pool.add(workload('export', 'hang'));
  pool.scale('export', 1, NOBODY_WAITS);
  await until(() => rows.some(({ why }) => why === 'no answer to 2 probes in a row'));
  await until(() => (pool.status()[0]?.replicas[0]?.restarts ?? 0) > 0);
});

test.skipIf(process.platform !== 'linux')(
  'a replica that leaks is watched and ended at its limit',
  async () => {
    const { pool, workload, rows } = newPool();
    const resources = {
      cpuRequestMillis: null,
      cpuLimitMillis: null,
      memoryRequestBytes: null,
      memoryLimitBytes: 300_000_000,
    };
    pool.add(workload('export', 'leak', { resources }));
    pool.scale('export', 1, NOBODY_WAITS);
    await until(() => rows.some(({ why }) => why === 'memory limit'));
  },
);

test.skipIf(process.platform !== 'linux')(
  'what a replica uses of CPU and memory is measured',
  async () => {
    const { pool, workload } = newPool();
    pool.add(workload('export', 'burn'));
    pool.scale('export', 1, NOBODY_WAITS);
    const [pod] = await until(() => {
      const pods = pool.observe('export');
      return (pods[0]?.cpuMillis ?? null) === null ? undefined : pods;
    });
    expect(pod?.cpuMillis).toBeGreaterThan(10);
    expect(pod?.memoryBytes).toBeGreaterThan(10_000_000);
  },
);

test('a stop does not wait longer than its bound for a process that ignores it', async () => {
  const { pool, workload, rows } = newPool({ drainMs: 2_000 });
  pool.add(workload('export', 'deaf'));
  pool.scale('export', 1, NOBODY_WAITS);
  await pool.untilReady('export');
  const pid = must(pool.status()[0]?.replicas[0]?.pid, 'its process');
  await pool.stopAll();
  expect(isAlive(pid)).toBe(false);
  expect(rows.at(-1)).toMatchObject({
    phase: 'gone',
    why: 'it did not stop in time and was killed',
  });
});

import { expect, test } from 'vitest';
import { MAX_REPLICAS } from './process-pool.ts';
import { fakePool, NOBODY_WAITS } from './testing/fake-pool.ts';
import { settled } from './testing/fake-process.ts';

test('ProcessPool.add starts nothing; scale starts so many, and again changes nothing', async () => {
  const { pool, workload, scale, names, listen, addresses, launches } = fakePool();
  pool.add(workload('export'));
  expect(names('export')).toEqual([]);
  await scale('export', 2);
  await scale('export', 2);
  expect(names('export')).toEqual(['export-0', 'export-1']);
  await listen('export-0', 'export-1');
  expect(addresses).toEqual([
    ['export-0', { port: 1 }],
    ['export-1', { port: 2 }],
  ]);
  expect(launches[1]).toEqual({
    replica: 'export-1',
    attempt: 1,
    place: 1,
    socketPath: null,
    joinFiles: [],
  });
  expect(() => pool.add(workload('export'))).toThrow('export already');
});

test('scale down: those not ready go first, then the youngest; names are never used again', async () => {
  const { pool, workload, scale, names, listen, launches } = fakePool();
  pool.add(workload('export'));
  await scale('export', 4);
  await listen('export-0', 'export-2', 'export-3');
  await scale('export', 3);
  expect(names('export')).toEqual(['export-0', 'export-2', 'export-3']);
  await scale('export', 1);
  expect(names('export')).toEqual(['export-0']);
  await scale('export', 3);
  expect(names('export')).toEqual(['export-0', 'export-4', 'export-5']);
  // Places are: log files do not grow in number.
  expect(launches.slice(4).map(({ replica, place }) => [replica, place])).toEqual([
    ['export-4', 1],
    ['export-5', 2],
  ]);
});

test('a replica that drains counts no more, keeps its place, and one asked for anew is another', async () => {
  const { pool, workload, scale, child, listen, launches } = fakePool();
  pool.add(workload('export'));
  await scale('export', 1);
  await listen('export-0');
  child('export-0').ignoresSigterm = true;
  await scale('export', 0);
  expect(pool.observe('export')).toMatchObject([
    { name: 'export-0', ready: false, draining: true },
  ]);
  await scale('export', 1);
  expect(launches.at(-1)).toMatchObject({ replica: 'export-1', place: 1 });
  expect(pool.status()).toMatchObject([
    { name: 'export', replicas: [{ phase: 'draining' }, { name: 'export-1', phase: 'launching' }] },
  ]);
});

test.each([
  [-1, 0],
  [1.9, 1],
  [Number.NaN, 2],
  [Infinity, MAX_REPLICAS],
  [100_000, MAX_REPLICAS],
])('scale to %d asks for %d', async (asked, replicas) => {
  const { pool, workload, scale, names } = fakePool();
  pool.add(workload('export'));
  await scale('export', 2);
  await scale('export', asked);
  expect(names('export')).toHaveLength(replicas);
});

test('at most startSlots processes start at once, over all Services', async () => {
  const { pool, workload, scale, listen, launches, story, clock } = fakePool({ startSlots: 2 });
  pool.add(workload('a'));
  pool.add(workload('b'));
  await scale('a', 2);
  await scale('b', 2);
  const launched = (): string[] => launches.map(({ replica }) => replica);
  expect(launched()).toEqual(['a-0', 'a-1']);
  expect(story('b-0')).toEqual(['pending']);
  await listen('a-1');
  expect(launched()).toEqual(['a-0', 'a-1', 'b-0']);
  // Neither of the two becomes ready: after 5 s others start all the same.
  await clock.advance(5_000);
  await settled();
  expect(launched()).toContain('b-1');
});

test('ProcessPool.untilReady resolves when all that were asked for are ready', async () => {
  const { pool, workload, scale, listen } = fakePool();
  pool.add(workload('export'));
  await pool.untilReady('export');
  await scale('export', 2);
  let ready = false;
  const waiting = pool.untilReady('export').then(() => (ready = true));
  await listen('export-0');
  expect(ready).toBe(false);
  await listen('export-1');
  await waiting;
});

test('untilReady rejects with end and log when a replica ends before it was ready', async () => {
  const { pool, workload, scale, child } = fakePool();
  pool.add(workload('export'));
  await scale('export', 1);
  const failed = {
    code: 'STAGE_START_FAILED',
    fields: { service: 'export', detail: 'exit code 2', log: '/logs/export.log' },
  };
  const waiting = expect(pool.untilReady('export')).rejects.toMatchObject(failed);
  child('export-0').end(2);
  await waiting;
  await expect(pool.untilReady('export')).rejects.toMatchObject(failed);
  await pool.stopAll();
});

test('untilReady rejects when a replica is not ready in time, or is stopped', async () => {
  const { pool, workload, scale, clock } = fakePool();
  pool.add(workload('export'));
  await scale('export', 1);
  const late = expect(pool.untilReady('export')).rejects.toThrow('not ready within 5000 ms');
  await clock.advance(5_000);
  await late;
  await clock.advance(250);
  await settled();
  const stopped = expect(pool.untilReady('export')).rejects.toThrow('it was stopped');
  await pool.stop(['export']);
  await stopped;
});

test('stop ends the named Services only, and for good', async () => {
  const { pool, workload, scale, listen, child, names, clock } = fakePool();
  pool.add(workload('export'));
  pool.add(workload('campaign'));
  await scale('export', 1);
  await scale('campaign', 1);
  await listen('campaign-0', 'export-0');
  await pool.stop(['export', 'unknown']);
  expect([names('export'), names('campaign')]).toEqual([[], ['campaign-0']]);
  // An autoscaler may not have heard of it yet.
  await scale('export', 3);
  expect(names('export')).toEqual([]);
  await pool.stopAll();
  expect(child('campaign-0').signals).toEqual(['SIGTERM']);
  expect(clock.sleeping).toBe(0);
});

test('beforeStop is awaited before SIGTERM, within the workload’s grace time', async () => {
  const asked: string[] = [];
  const { pool, workload, scale, listen, child, clock, story, addresses } = fakePool({
    beforeStop: (service, replica) => {
      asked.push(`${service}/${replica}`);
      return new Promise(() => {});
    },
  });
  pool.add(workload('export', { terminationGraceMs: 8_000 }));
  await scale('export', 1);
  await listen('export-0');
  await scale('export', 0);
  await clock.advance(7_999);
  expect([asked, child('export-0').signals]).toEqual([['export/export-0'], []]);
  expect(addresses).toHaveLength(1);
  await clock.advance(1);
  await settled();
  expect(addresses.at(-1)).toEqual(['export-0', undefined]);
  expect(child('export-0').signals).toEqual(['SIGTERM']);
  expect(story('export-0')).toEqual(['pending', 'launching', 'ready', 'draining', 'gone']);
});

test('rows tell what happened, when, to which process', async () => {
  const { pool, workload, scale, listen, child, clock, rows } = fakePool();
  pool.add(workload('export'));
  await clock.advance(10);
  await scale('export', 1);
  await clock.advance(90);
  await listen('export-0');
  child('export-0').signal('SIGKILL');
  await settled();
  const row = { service: 'export', replica: 'export-0', node: null, why: null };
  expect(rows).toEqual([
    { ...row, atMs: 10, phase: 'pending', pid: null },
    { ...row, atMs: 10, phase: 'launching', pid: 1 },
    { ...row, atMs: 100, phase: 'ready', pid: 1 },
    { ...row, atMs: 100, phase: 'backoff', pid: null, why: 'signal SIGKILL' },
  ]);
});

test('the artificial start delay comes before the slot, once for each replica', async () => {
  const delays = [700, 50];
  const { pool, workload, scale, listen, child, clock, coldStarts, launches } = fakePool({
    startSlots: 1,
  });
  pool.add(workload('export', { drawStartDelayMs: () => delays.shift() ?? 9_999 }));
  await scale('export', 2, { decidedMs: 0, requestedMs: null });
  // Two containers are pulled at the same time: the shorter delay is first.
  await clock.advance(50);
  await settled();
  expect(launches.map(({ replica }) => replica)).toEqual(['export-1']);
  await clock.advance(700);
  await listen('export-1');
  expect(launches).toHaveLength(2);
  pool.firstResponse('export', 'export-1');
  expect(coldStarts).toMatchObject([
    { replica: 'export-1', startDelayMs: 50, slotMs: 50, spawnedMs: 50, listeningMs: 750 },
  ]);
  await listen('export-0');
  pool.firstResponse('export', 'export-0');
  expect(coldStarts[1]).toMatchObject({ startDelayMs: 700, slotMs: 750 });
  child('export-0').end(1);
  await settled();
  await clock.advance(250);
  await settled();
  expect(launches).toHaveLength(3);
});

test('a cold start is told at its first response, or at its end without one; once', async () => {
  const { pool, workload, scale, listen, child, clock, coldStarts } = fakePool();
  pool.add(workload('export'));
  await clock.advance(100);
  await scale('export', 1, { decidedMs: 100, requestedMs: 95 });
  await clock.advance(80);
  await listen('export-0');
  expect(coldStarts).toEqual([]);
  await clock.advance(5);
  pool.firstResponse('export', 'export-0');
  pool.firstResponse('export', 'export-0');
  pool.firstResponse('export', 'export-99');
  expect(coldStarts).toEqual([
    {
      service: 'export',
      replica: 'export-0',
      fromZero: true,
      requestedMs: 95,
      decidedMs: 100,
      slotMs: 100,
      startDelayMs: 0,
      spawnedMs: 100,
      bootedMs: null,
      loadedMs: null,
      listeningMs: 180,
      firstResponseMs: 185,
    },
  ]);
  await scale('export', 3, { decidedMs: 185, requestedMs: null });
  await listen('export-1');
  child('export-1').end(1);
  child('export-2').end(1);
  await settled();
  // One never became ready.
  expect(coldStarts.slice(1)).toMatchObject([
    { replica: 'export-1', fromZero: false, decidedMs: 185, firstResponseMs: null },
  ]);
});

test('once a second what every process uses is read, and kept over its restarts', async () => {
  const { pool, workload, scale, listen, child, clock, usage } = fakePool({
    metricWindowMs: 2_000,
  });
  pool.add(workload('export'));
  await scale('export', 1);
  await listen('export-0');
  expect(pool.observe('export')).toMatchObject([{ cpuMillis: null, memoryBytes: null }]);
  expect(pool.usage('export')).toEqual([]);
  for (const cpuMs of [100, 400, 700, 1_000]) {
    usage.set(1, { cpuMs, memoryBytes: 5_000 });
    await clock.advance(1_000);
  }
  expect(pool.observe('export')).toMatchObject([{ cpuMillis: 300, memoryBytes: 5_000 }]);
  expect(pool.usage('export')).toEqual([{ name: 'export-0', cpuMs: 1_000, memoryBytes: 5_000 }]);
  child('export-0').end(1);
  await settled();
  // No process, no metrics; what was used is not forgotten.
  expect(pool.observe('export')).toMatchObject([{ cpuMillis: null, memoryBytes: null }]);
  await clock.advance(250);
  usage.set(2, { cpuMs: 40, memoryBytes: 6_000 });
  await clock.advance(1_000);
  expect(pool.usage('export')).toEqual([{ name: 'export-0', cpuMs: 1_040, memoryBytes: 6_000 }]);
});

test('without a group a process that holds more memory than it may is ended', async () => {
  const { pool, workload, scale, listen, clock, usage, story, child } = fakePool();
  const resources = {
    cpuRequestMillis: null,
    cpuLimitMillis: null,
    memoryRequestBytes: null,
    memoryLimitBytes: 1_000,
  };
  pool.add(workload('export', { resources }));
  await scale('export', 1);
  await listen('export-0');
  usage.set(1, { cpuMs: 1, memoryBytes: 1_000 });
  await clock.advance(1_000);
  expect(child('export-0').signals).toEqual([]);
  usage.set(1, { cpuMs: 1, memoryBytes: 1_001 });
  await clock.advance(1_000);
  await settled();
  expect(story('export-0').at(-1)).toBe('backoff: memory limit');
});

test('a failing account of one process costs that sample, not the loop', async () => {
  let readings = 0;
  const { pool, workload, scale, listen, clock } = fakePool({
    readUsage: async () => {
      readings += 1;
      if (readings === 1) throw new Error('EIO');
      return { cpuMs: 7, memoryBytes: 8 };
    },
  });
  pool.add(workload('export'));
  await scale('export', 1);
  await listen('export-0');
  await clock.advance(1_000);
  expect(pool.usage('export')).toEqual([]);
  await clock.advance(1_000);
  expect(pool.usage('export')).toMatchObject([{ cpuMs: 7 }]);
});

test('a replica that hangs is ended and started again', async () => {
  let answers = true;
  const probe = async (): Promise<boolean> => answers;
  const { pool, workload, scale, listen, clock, story, launches } = fakePool({
    probe: { probe, periodMs: 10_000, timeoutMs: 1_000, failures: 3 },
  });
  pool.add(workload('export'));
  await scale('export', 1, NOBODY_WAITS);
  await listen('export-0');
  await clock.advance(60_000);
  expect(story('export-0').at(-1)).toBe('ready');
  answers = false;
  await clock.advance(29_999);
  expect(story('export-0').at(-1)).toBe('ready');
  await clock.advance(1);
  await settled();
  expect(story('export-0').at(-1)).toBe('backoff: no answer to 3 probes in a row');
  await clock.advance(250);
  await settled();
  expect(launches.at(-1)).toMatchObject({ replica: 'export-0', attempt: 2 });
  await pool.stopAll();
  expect(clock.sleeping).toBe(0);
});

import { afterEach, expect, test } from 'vitest';
import type { Decision, Observation, Policy, Stat } from '#infra/autoscaling/policy.ts';
import type { SampleRow } from '#infra/local/cluster-records.ts';
import { VirtualClock } from '#kernel/core/clock.ts';
import { silentLog } from '#kernel/system/log.ts';
import { Autoscaler } from './autoscaler.ts';
import { BuiltInEngine } from './policy-engine.ts';

/** Wants as many replicas as the last statistic says requests are inside. */
const followPolicy: Policy<{ periodMs: number }, number> = {
  name: 'follow',
  pokes: true,
  periodMs: ({ periodMs }) => periodMs,
  start: () => 0,
  decide: (_, state, { stats }: Observation) => {
    const desired = Math.ceil(stats.at(-1)?.averageConcurrency ?? 0);
    const decision: Decision = {
      desired,
      wanted: desired,
      reason: `${stats.length} statistics`,
      limits: [],
      details: {},
      panicking: desired > 2,
      path: desired > 2 ? 'serve' : 'proxy',
      againAtMs: null,
    };
    return { state: state + 1, decision };
  },
};

const stat = (atMs: number, averageConcurrency: number): Stat => ({
  atMs,
  from: 'activator',
  averageConcurrency,
  averageProxiedConcurrency: 0,
  requestCount: 1,
  proxiedRequestCount: 0,
});

const running: Autoscaler[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((autoscaler) => autoscaler.stop()));
});

function start(concurrency: (nowMs: number) => number) {
  const clock = new VirtualClock();
  const scaled: [number, { decidedMs: number; requestedMs: number | null }][] = [];
  const paths: string[] = [];
  const rows: SampleRow[] = [];
  let replicas = 0;
  const autoscaler = new Autoscaler({
    services: [
      {
        name: 'stage',
        engine: new BuiltInEngine(followPolicy, { periodMs: 2_000 }),
        initialReplicas: 0,
        path: {
          takeStats: (nowMs) => [stat(nowMs, concurrency(nowMs))],
          figures: () => ({ offered: 7, averageConcurrency: 1.5, queued: 2 }),
          setPath: (path) => paths.push(path),
        },
      },
    ],
    pool: {
      scale: (_, wanted, why) => {
        if (wanted !== replicas) scaled.push([wanted, why]);
        replicas = wanted;
      },
      observe: () =>
        Array.from({ length: replicas }, (_, index) => ({
          name: `stage-${index}`,
          ready: index > 0,
          draining: false,
          startedMs: 0,
          readySinceMs: null,
          cpuMillis: null,
          memoryBytes: null,
        })),
      usage: () => [{ name: 'stage-0', cpuMs: 5, memoryBytes: 10 }],
    },
    clock,
    originMs: 0,
    log: silentLog,
    recorder: { write: (kind, row) => void (kind === 'samples' && rows.push(row as SampleRow)) },
    lag: () => 4,
  });
  running.push(autoscaler);
  autoscaler.start();
  return { clock, autoscaler, scaled, paths, rows };
}

test('statistics of every second reach the decision of the period', async () => {
  const { clock, scaled, paths, autoscaler } = start((nowMs) => (nowMs >= 1_500 ? 3 : 0));
  await clock.advance(4_000);
  expect(scaled).toEqual([[3, { decidedMs: 4_000, requestedMs: null }]]);
  expect(paths.at(-1)).toBe('serve');
  expect(autoscaler.status('stage')).toEqual({
    policy: 'follow',
    desired: 3,
    ready: 2,
    starting: 1,
    draining: 0,
    offeredPerS: 7,
    concurrency: 1.5,
    queued: 2,
    backlog: 4,
    panicking: true,
    path: 'serve',
    reason: '2 statistics',
  });
});

test('a request at zero is decided at once; the start knows since when somebody waits', async () => {
  const { clock, autoscaler, scaled } = start(() => 0);
  await clock.advance(2_300);
  autoscaler.poke('stage', stat(2_300, 1));
  await clock.advance(10);
  expect(scaled).toEqual([[1, { decidedMs: 2_300, requestedMs: 2_300 }]]);
});

test('a sample row a second says how the Service is', async () => {
  const { clock, rows } = start(() => 0);
  await clock.advance(3_000);
  expect(rows.map(({ atMs }) => atMs)).toEqual([1_000, 2_000, 3_000]);
  expect(rows[0]).toEqual({
    atMs: 1_000,
    service: 'stage',
    offeredPerS: 7,
    concurrency: 1.5,
    queued: 2,
    desired: 0,
    ready: 0,
    starting: 0,
    draining: 0,
    panicking: false,
    path: 'proxy',
    backlog: 4,
    replicas: [{ name: 'stage-0', cpuMs: 5, memoryBytes: 10 }],
  });
});

test('after a stop nothing is scaled and no timer is left', async () => {
  const { clock, autoscaler, scaled } = start((nowMs) => nowMs);
  await clock.advance(2_000);
  const before = scaled.length;
  await autoscaler.stop();
  await clock.advance(20_000);
  expect(scaled).toHaveLength(before);
  expect(clock.sleeping).toBe(0);
});

import { afterEach, expect, test } from 'vitest';
import type { Decision, Observation, Stat } from '#infra/autoscaling/policy.ts';
import type { DecisionRow } from '#infra/local/cluster-records.ts';
import { VirtualClock } from '#kernel/core/clock.ts';
import { TachographError } from '#kernel/core/errors.ts';
import { silentLog } from '#kernel/system/log.ts';
import type { PolicyEngine } from './policy-engine.ts';
import { MAX_STATS, ServiceScaler } from './service-scaler.ts';

const decided = (desired: number | null, againAtMs: number | null = null): Decision => ({
  desired,
  wanted: desired,
  reason: 'as the test says',
  limits: [],
  details: {},
  panicking: false,
  path: null,
  againAtMs,
});

const stat = (atMs: number): Stat => ({
  atMs,
  from: 'activator',
  averageConcurrency: 1,
  averageProxiedConcurrency: 0,
  requestCount: 1,
  proxiedRequestCount: 0,
});

interface Asked {
  readonly atMs: number;
  readonly stats: number;
}

const scalers: ServiceScaler[] = [];
afterEach(async () => {
  await Promise.all(scalers.splice(0).map((scaler) => scaler.stop()));
});

function scalerFor(answers: (nowMs: number) => Decision | Error, pokes = true) {
  const clock = new VirtualClock();
  const asked: Asked[] = [];
  const rows: DecisionRow[] = [];
  const applied: (number | null)[] = [];
  let replicas = 0;
  const engine: PolicyEngine = {
    name: 'scripted',
    module: null,
    config: { any: 1 },
    periodMs: 2_000,
    pokes,
    start: () => {},
    decide: (observation: Observation, nowMs: number) => {
      asked.push({ atMs: nowMs, stats: observation.stats.length });
      const answer = answers(nowMs);
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    },
    close: () => Promise.resolve(),
  };
  const scaler = new ServiceScaler({
    service: {
      name: 'stage',
      observe: () => ({ ready: 0, replicas, pods: [], lag: null }),
      apply: (decision) => {
        applied.push(decision.desired);
        replicas = decision.desired ?? replicas;
      },
    },
    engine,
    clock,
    originMs: 0,
    log: silentLog,
    onRow: (row) => rows.push(row),
  });
  scalers.push(scaler);
  return { clock, scaler, asked, rows, applied };
}

test('a scaler decides at once and then every period, each time with the statistics since then', async () => {
  const { clock, scaler, asked, rows } = scalerFor(() => decided(1));
  scaler.start(0);
  scaler.note([stat(500), stat(1_000)]);
  await clock.advance(4_000);
  expect(asked).toEqual([
    { atMs: 0, stats: 0 },
    { atMs: 2_000, stats: 2 },
    { atMs: 4_000, stats: 0 },
  ]);
  expect(rows.map(({ kind, atMs }) => [kind, atMs])).toEqual([
    ['policy', 0],
    ['decision', 0],
    ['decision', 2_000],
    ['decision', 4_000],
  ]);
});

test('a request at a Service at zero asks at once, and the ticks stay where they were', async () => {
  const { clock, scaler, asked } = scalerFor((nowMs) => decided(nowMs < 700 ? 0 : 2));
  scaler.start(0);
  await clock.advance(700);
  scaler.poke();
  await clock.advance(2_000);
  expect(asked.map(({ atMs }) => atMs)).toEqual([0, 700, 2_000]);
});

test('a request at a Service above zero waits for the period', async () => {
  const { clock, scaler, asked } = scalerFor(() => decided(1));
  scaler.start(0);
  await clock.advance(700);
  scaler.poke();
  await clock.advance(1_000);
  expect(asked.map(({ atMs }) => atMs)).toEqual([0]);
});

test('a policy that does not poke waits for the period also at zero', async () => {
  const { clock, scaler, asked } = scalerFor(() => decided(0), false);
  scaler.start(0);
  await clock.advance(700);
  scaler.poke();
  await clock.advance(1_000);
  expect(asked.map(({ atMs }) => atMs)).toEqual([0]);
});

test('a policy that wants to be asked sooner is asked then, never closer than 50 ms', async () => {
  const { clock, scaler, asked } = scalerFor((nowMs) =>
    decided(1, nowMs === 0 ? 300 : nowMs === 300 ? 301 : null),
  );
  scaler.start(0);
  await clock.advance(2_000);
  expect(asked.map(({ atMs }) => atMs)).toEqual([0, 300, 350, 2_000]);
});

test('a policy that fails costs a decision: the row says why, what was asked for last stays', async () => {
  const failure = new TachographError('POLICY_FAILED', { policy: 'p.ts', detail: 'it threw' });
  const { clock, scaler, applied, rows } = scalerFor((nowMs) =>
    nowMs === 2_000 ? failure : decided(3),
  );
  scaler.start(0);
  await clock.advance(4_000);
  expect(applied).toEqual([3, null, 3]);
  expect(rows[2]).toMatchObject({
    decision: {
      desired: null,
      reason: 'The policy p.ts gave no decision: it threw; what was asked for last stays (3)',
    },
  });
});

test('statistics between two decisions have a bound: the oldest go and are counted', () => {
  const { scaler } = scalerFor(() => decided(1));
  scaler.note(Array.from({ length: MAX_STATS }, (_, index) => stat(index)));
  expect(scaler.droppedStats).toBe(0);
  scaler.note([stat(1), stat(2)]);
  expect(scaler.droppedStats).toBe(2);
});

test('stop ends the loop: nothing is asked afterwards', async () => {
  const { clock, scaler, asked } = scalerFor(() => decided(1));
  scaler.start(0);
  await clock.advance(2_000);
  await scaler.stop();
  await clock.advance(10_000);
  expect(asked).toHaveLength(2);
  expect(clock.sleeping).toBe(0);
});

import { expect, test } from 'vitest';
import { defaultConfig } from './testing/example-config.ts';
import { KpaRun, load } from './testing/kpa-run.ts';

/** A Service that has gone to zero: allowed to begin there. */
const AT_ZERO = defaultConfig({ initialScale: 0 });

const DIRECT = defaultConfig({ targetBurstCapacity: 11 });

test('from zero: the first request asks for a replica at once, through the activator', () => {
  const run = new KpaRun(AT_ZERO);
  expect(run.decide(0, 0)).toMatchObject({ desired: null, wanted: null, path: 'proxy' });
  const decision = run.decide(300, 0, [load(300, 1)]);
  expect(decision).toMatchObject({
    desired: 1,
    wanted: 1,
    panicking: false,
    path: 'proxy',
    limits: [],
    details: { active: 'activating', readyReplicas: 0, excessBurstCapacity: -212 },
  });
  // Ready at the next tick: active.
  expect(run.decide(2_000, 1, [load(1_300, 1)])).toMatchObject({
    desired: 1,
    details: { active: 'active' },
  });
});

test('to zero: a window without load after the last request, and the grace period is long over', () => {
  const run = new KpaRun(AT_ZERO);
  run.decide(0, 0);
  run.decide(300, 0, [load(300, 1)]);
  const decisions = run.ticks(2_000, 70_000, 1, 0);
  // The report lies in second 0, the window at 60 s holds seconds 1 to 60, active since 2 s: 62 s.
  const zero = decisions.filter(({ desired }) => desired === 0).map(({ atMs }) => atMs);
  expect(zero[0]).toBe(62_000);
  expect(decisions.find(({ atMs }) => atMs === 60_000)).toMatchObject({
    desired: 1,
    wanted: 0,
    limits: ['window'],
    againAtMs: 62_000,
  });
  expect(decisions.at(-1)).toMatchObject({ desired: 0, details: { active: 'inactive' } });
});

test('to zero from a direct path: the activator first, then the grace period', () => {
  // One replica of 100 has room for 10 and a burst of 11: the activator is out of the path.
  const run = new KpaRun(DIRECT);
  run.ticks(2_000, 10_000, 1, 10);
  expect(run.state.path).toBe('serve');
  const idle = run.ticks(12_000, 100_000, 1, 0);
  const inactive = idle.find(({ details }) => details['active'] === 'inactive');
  // The last load lies in second 10 → 70 s.
  expect(inactive).toMatchObject({
    atMs: 70_000,
    wanted: 0,
    path: 'proxy',
    limits: ['scale-to-zero-grace-period'],
    againAtMs: 100_000,
  });
  expect(idle.filter(({ desired }) => desired === 0).map(({ atMs }) => atMs)).toEqual([100_000]);
});

test('a request during the grace period brings it back without a new replica', () => {
  const run = new KpaRun(DIRECT);
  run.ticks(2_000, 10_000, 1, 10);
  run.ticks(12_000, 72_000, 1, 0);
  expect(run.state.status).toBe('inactive');
  expect(run.decide(73_000, 1, [load(73_000, 1)])).toMatchObject({
    desired: 1,
    details: { active: 'active' },
  });
});

test('the last pod is kept for the retention period', () => {
  const run = new KpaRun(defaultConfig({ initialScale: 0, podRetentionPeriodMs: 40_000 }));
  run.decide(0, 0, [load(0, 1)]);
  const decisions = run.ticks(2_000, 110_000, 1, 0);
  const first = decisions.find(({ details }) => details['active'] === 'inactive');
  expect(first).toMatchObject({
    atMs: 62_000,
    limits: ['scale-to-zero-pod-retention-period'],
    againAtMs: 102_000,
  });
  expect(decisions.find(({ desired }) => desired === 0)?.atMs).toBe(102_000);
});

test('without data there is no decision: the replicas stay', () => {
  const run = new KpaRun(AT_ZERO);
  run.decide(0, 0, [load(0, 60)]);
  expect(run.decide(2_000, 1)).toMatchObject({ desired: 1, wanted: 1 });
  // Up to a window's length after the last report the average is known, and 0 at its end.
  expect(run.decide(60_000, 1)).toMatchObject({ desired: 1, wanted: 0, details: { stable: 0 } });
  expect(run.decide(61_000, 1)).toMatchObject({
    desired: null,
    wanted: 0,
    details: { stable: null, panic: null, desiredStable: null },
    reason: 'no data: 1 stay',
  });
});

test('a revision that never becomes ready is given up, later than its progress deadline', () => {
  const run = new KpaRun(defaultConfig({ initialScale: 0, progressDeadlineMs: 100_000 }));
  run.decide(0, 0, [load(0, 1)]);
  for (let atMs = 2_000; atMs <= 128_000; atMs += 2_000) {
    expect(run.decide(atMs, 0, [load(atMs, 0)]).desired).toBe(1);
  }
  // At 60 s nobody was there any more, and it asked to be called 130 s later. The ticks since, which
  // changed nothing, did not call the reconciler: that would have put the moment off.
  expect(run.state.againAtMs).toBe(60_000 + 130_000);
  expect(run.decide(190_000, 0, [load(190_000, 0)])).toMatchObject({
    desired: 0,
    details: { active: 'inactive' },
    reason:
      'concurrency 0.00 over the stable window wants 0, 0.00 over the panic window 0 (target 70): 0 wanted; the revision did not become ready in time; the activator has been in the path long enough',
  });
});

test('the initial scale is asked for until it was reached once', () => {
  const run = new KpaRun(defaultConfig({ initialScale: 3 }));
  expect(run.decide(0, 0)).toMatchObject({ desired: 3, limits: ['initial-scale'] });
  expect(run.decide(2_000, 2, [load(2_000, 1)])).toMatchObject({ desired: 3, wanted: 1 });
  // Reached: from here on what is wanted counts, at the next change of it or of the replicas.
  expect(run.decide(4_000, 3, [load(4_000, 1)])).toMatchObject({
    desired: 1,
    details: { active: 'active' },
  });
});

test('without scaling to zero one replica stays', () => {
  const run = new KpaRun(defaultConfig({ enableScaleToZero: false }), { ready: 1 });
  const decisions = run.ticks(2_000, 200_000, 1, 0);
  expect(new Set(decisions.map(({ desired }) => desired))).toEqual(new Set([1]));
  expect(decisions.at(-1)?.limits).toContain('enable-scale-to-zero');
});

test('with the activator always in the path what replicas report is not heard', () => {
  const config = defaultConfig({ targetBurstCapacity: -1 });
  const run = new KpaRun(config, { ready: 1 });
  const decision = run.decide(2_000, 1, [load(1_000, 500, 'replica'), load(1_000, 30)]);
  expect(decision).toMatchObject({
    path: 'proxy',
    details: { stable: 30, excessBurstCapacity: -1, activators: 2 },
  });
});

test('what a decision says of itself', () => {
  const config = defaultConfig({ targetPerReplica: 0.7, totalPerReplica: 1, maxScale: 6 });
  const run = new KpaRun(config, { ready: 1 });
  expect(run.decide(2_000, 1, [load(1_000, 9), load(2_000, 5)])).toEqual({
    desired: 6,
    wanted: 10,
    reason:
      'concurrency 7.00 over the stable window wants 10, 7.00 over the panic window 10 (target 0.7): panicking, 10 wanted',
    limits: ['max-scale'],
    details: {
      metric: 'concurrency',
      stable: 7,
      panic: 7,
      target: 0.7,
      desiredStable: 10,
      desiredPanic: 10,
      readyReplicas: 1,
      maxScaleUp: 1_000,
      maxScaleDown: 0,
      excessBurstCapacity: 1 - 211 - 7,
      // ceil((1 × 1 + 211) / 100)
      activators: 3,
      active: 'active',
    },
    panicking: true,
    path: 'proxy',
    againAtMs: null,
  });
});

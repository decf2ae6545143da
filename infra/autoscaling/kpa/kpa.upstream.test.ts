import { expect, test } from 'vitest';
import { kpaPolicy, sameSign } from './kpa.ts';
import { defaultConfig } from './testing/example-config.ts';
import { KpaRun, load } from './testing/kpa-run.ts';

/**
 * Restates tests of knative/serving, commit 98e5ef90, that need windows, decision and reconciler together,
 * by their names. Not restated: what tests Go objects and informers (TestNewFail, TestMultiScalerUpdate,
 * TestCantCountPods: here ready replicas are always known) and exported metrics.
 */

/** pkg/autoscaler/scaling/multiscaler_test.go, TestMultiscalerCreate* and the begin of TestMultiScalerScaling. */
test.each([
  {
    name: 'TestMultiscalerCreateTBC42',
    over: { targetBurstCapacity: 42, initialScale: 2, totalPerReplica: 25 },
    excess: 50 - 42,
  },
  { name: 'TestMultiscalerCreateTBCMinus1', over: { targetBurstCapacity: -1 }, excess: -1 },
  { name: 'TestMultiScalerScaling', over: { targetBurstCapacity: 0 }, excess: 0 },
])('$name: before the first evaluation', ({ over, excess }) => {
  const state = kpaPolicy.start(defaultConfig(over), { nowMs: 0, ready: 0 });
  expect(state).toMatchObject({ wanted: -1, excessBurstCapacity: excess });
});

test('TestMultiScalerScaling: the reconciler is called for a new wish, not for the same again', () => {
  const run = new KpaRun(defaultConfig({ minScale: 1 }), { ready: 1 });
  run.decide(2_000, 1, [load(2_000, 1)]);
  expect(run.state).toMatchObject({ wanted: 1, asked: 1, reconciledReady: 1 });
  // Were it called it would ask for 1: that it was not shows in what was asked for.
  run.state = { ...run.state, asked: 7 };
  run.decide(4_000, 1, [load(4_000, 1)]);
  expect(run.state.asked).toBe(7);
  run.decide(6_000, 1, [load(6_000, 400)]);
  expect(run.state).toMatchObject({ wanted: 2, asked: 2 });
});

test('TestMultiScalerOnlyCapacityChange: another sign of the excess is enough', () => {
  const run = new KpaRun(defaultConfig({ targetBurstCapacity: 50 }), { ready: 1 });
  expect(run.decide(2_000, 1, [load(2_000, 20)])).toMatchObject({ desired: 1, path: 'serve' });
  // 100 − 50 − (20 + 90) / 2 = −5.
  expect(run.decide(3_000, 1, [load(3_000, 90)])).toMatchObject({ desired: 1, path: 'proxy' });
});

test('TestMultiScalerScaleToZero: from no wish to the wish for none', () => {
  const run = new KpaRun(defaultConfig({ initialScale: 0 }));
  expect(run.decide(0, 0)).toMatchObject({ wanted: null });
  expect(run.decide(2_000, 0, [load(2_000, 0)])).toMatchObject({ wanted: 0, path: 'proxy' });
});

test('TestMultiScalerScaleFromZero: a poke at zero is an evaluation between two ticks', () => {
  const run = new KpaRun(defaultConfig({ initialScale: 0 }));
  run.decide(2_000, 0, [load(2_000, 0)]);
  expect(run.state.wanted).toBe(0);
  expect(kpaPolicy.pokes).toBe(true);
  expect(run.decide(2_700, 0, [load(2_700, 1)])).toMatchObject({ wanted: 1, desired: 1 });
});

test.each([
  { a: 1982, b: 1984, want: true },
  { a: -1984, b: -1988, want: true },
  { a: -1988, b: 2006, want: false },
  { a: -2006, b: 2009, want: false },
  { a: 0, b: 1, want: true },
  { a: 0, b: -42, want: false },
])('TestSameSign: $a, $b → $want', ({ a, b, want }) => {
  expect(sameSign(a, b)).toBe(want);
});

/** pkg/autoscaler/scaling/autoscaler_test.go. */
test('TestAutoscalerNoDataNoAutoscale', () => {
  const run = new KpaRun(defaultConfig({ initialScale: 0 }));
  expect(run.decide(2_000, 0)).toMatchObject({ desired: null, wanted: null, panicking: false });
});

/** Two seconds stable, one of them panic: requests of both and of the last. */
const RPS = defaultConfig({
  metric: 'rps',
  targetPerReplica: 10,
  totalPerReplica: 10 / 0.75,
  targetBurstCapacity: 100,
  stableWindowMs: 2_000,
  panicWindowPercentage: 50,
  maxScaleUpRate: 10,
  maxScaleDownRate: 10,
});

test.each([
  { name: 'TestAutoscalerStableModeIncreaseWithRPS', stable: 50, panic: 50, want: 5 },
  { name: 'TestAutoscalerStableModeIncreaseWithRPS', stable: 100, panic: 99, want: 10 },
  { name: 'TestAutoscalerMetricsWithRPS', stable: 100, panic: 99, want: 10 },
])('$name: $stable, $panic requests a second', ({ stable, panic, want }) => {
  const run = new KpaRun(RPS, { ready: 1 });
  // What is inside at a time counts for nothing here.
  const report = (atMs: number, requestCount: number) => ({ ...load(atMs, 7_000), requestCount });
  const reports = [report(1_000, 2 * stable - panic), report(2_000, panic)];
  expect(run.decide(2_000, 1, reports)).toMatchObject({
    wanted: want,
    panicking: true,
    details: { stable, panic, excessBurstCapacity: Math.floor(10 / 0.75 - 100 - panic) },
  });
});

/** pkg/reconciler/autoscaling/kpa/kpa_test.go: what is asked for stays where a wish is not known. */
test.each([
  { name: 'initial', asked: null, ready: 0, wants: 1, becomes: 1 },
  { name: 'ready', asked: 1, ready: 1, wants: 1, becomes: 1 },
  { name: 'stable', asked: 1, ready: 1, wants: 1, becomes: 1 },
  { name: 'no metrics', asked: 2, ready: 2, wants: -1, becomes: 2 },
])('TestComputeStatus: $name', ({ asked, ready, wants, becomes }) => {
  const run = new KpaRun(defaultConfig({ initialScale: 0 }), { ready: 0 });
  run.state = { ...run.state, asked };
  const stats = wants < 0 ? [] : [load(2_000, wants)];
  const decision = run.decide(2_000, ready, stats);
  expect(run.state.asked).toBe(becomes);
  expect(decision.details['readyReplicas']).toBe(ready);
});

test('a minimum is asked for before anything was measured', () => {
  const run = new KpaRun(defaultConfig({ minScale: 2 }), { ready: 2 });
  expect(run.decide(0, 2)).toMatchObject({ desired: 2, wanted: null });
  expect(run.decide(2_000, 2)).toMatchObject({ desired: null, wanted: null });
  expect(run.state.asked).toBe(2);
});

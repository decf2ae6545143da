import { expect, test } from 'vitest';
import type { HpaConfig } from './hpa-config.ts';
import { hpaPolicy, type HpaState } from './hpa.ts';
import type { Recommendation } from './scaling-behavior.ts';
import { exampleHpa, exampleObservation, examplePods } from './testing/example-hpa.ts';
import { limitGrowth, rememberInWindow, stabilizeDown } from './without-behavior.ts';

/** Restates kubernetes pkg/controller/podautoscaler/horizontal_test.go, commit 003e8629, by its names. */
const NOW_MS = 10_000_000;
const MINUTE_MS = 60_000;
const WINDOW_MS = 5 * MINUTE_MS;

const bare = (over: Partial<HpaConfig> = {}): HpaConfig => ({
  ...exampleHpa(),
  behavior: null,
  ...over,
});

const recommended = (...rows: readonly (readonly [replicas: number, minutesAgo: number])[]) =>
  rows.map(([replicas, minutes]): Recommendation => ({
    replicas,
    atMs: NOW_MS - minutes * MINUTE_MS,
  }));

/** TestNormalizeDesiredReplicas. Upstream writes over one old recommendation at a time; here all go. */
test.each([
  { name: 'empty log', was: [], desired: 5, replicas: 5, kept: 1 },
  { name: 'stabilize', was: recommended([4, 2], [5, 1]), desired: 3, replicas: 5, kept: 3 },
  { name: 'no stabilize', was: recommended([1, 2], [2, 1]), desired: 3, replicas: 3, kept: 3 },
  {
    name: 'no stabilize - old recommendations',
    was: recommended([10, 10], [9, 9]),
    desired: 3,
    replicas: 3,
    kept: 1,
  },
  {
    name: 'stabilize - old recommendations',
    was: recommended([10, 10], [4, 1], [5, 2], [9, 9]),
    desired: 3,
    replicas: 5,
    kept: 3,
  },
  // Own row: here one that is exactly a window old still counts; with `behavior` it does not.
  { name: 'the edge', was: recommended([9, 5]), desired: 3, replicas: 9, kept: 2 },
])('stabilisation: $name', ({ was, desired, replicas, kept }) => {
  const config = bare({ downscaleStabilizationMs: WINDOW_MS });
  expect(stabilizeDown(config, was, desired, NOW_MS)).toBe(replicas);
  const remembered = rememberInWindow(config, was, desired, NOW_MS);
  expect(remembered).toHaveLength(kept);
  expect(remembered.at(-1)).toEqual({ atMs: NOW_MS, replicas: desired });
});

/** TestConvertDesiredReplicasWithRules; the rows from the sixth on are our own. */
test.each([
  { current: 5, desired: 7, min: 3, max: 8, replicas: 7, limits: [] },
  { current: 3, desired: 1, min: 2, max: 8, replicas: 2, limits: ['minReplicas'] },
  { current: 1, desired: 0, min: 0, max: 10, replicas: 0, limits: [] },
  { current: 20, desired: 1_000, min: 1, max: 10, replicas: 10, limits: ['maxReplicas'] },
  { current: 3, desired: 1_000, min: 1, max: 2_000, replicas: 6, limits: ['scaleUpLimit'] },
  { current: 1, desired: 5, min: 1, max: 10, replicas: 4, limits: ['scaleUpLimit'] },
  { current: 2, desired: 4, min: 1, max: 10, replicas: 4, limits: [] },
  { current: 2, desired: 5, min: 1, max: 4, replicas: 4, limits: ['maxReplicas'] },
  { current: 100, desired: 1, min: 1, max: 200, replicas: 1, limits: [] },
])('$current, $desired in $min to $max → $replicas', ({ current, desired, min, max, ...row }) => {
  const limited = limitGrowth(bare({ minReplicas: min, maxReplicas: max }), current, desired);
  expect(limited).toEqual(row);
});

/** Replicas at each synchronisation, 15 s apart, all of them with so many per cent of their request. */
function run(config: HpaConfig, replicas: number, percents: readonly number[]): readonly number[] {
  let state: HpaState = hpaPolicy.start(config, { nowMs: 0, ready: replicas });
  let current = replicas;
  return percents.map((percent, index) => {
    const pods = examplePods(Array.from({ length: current }, () => percent * 10));
    const observation = exampleObservation({ replicas: current, pods });
    const step = hpaPolicy.decide(config, state, observation, NOW_MS + index * 15_000);
    state = step.state;
    current = step.decision.desired ?? current;
    return current;
  });
}

test('one replica at 1000 %: 4, 8, 10; with the default behavior 5, 10', () => {
  expect(run(bare(), 1, [1_000, 1_000, 1_000])).toEqual([4, 8, 10]);
  expect(run(exampleHpa(), 1, [1_000, 1_000, 1_000])).toEqual([5, 10, 10]);
});

test('a recommendation of the window also raises; with the default behavior it only holds', () => {
  const state = (recommendations: readonly Recommendation[]): HpaState => ({
    behavior: { events: [], recommendations },
  });
  const observation = exampleObservation({ replicas: 2, pods: examplePods([700, 700]) });
  const decide = (config: HpaConfig) =>
    hpaPolicy.decide(config, state(recommended([5, 1])), observation, NOW_MS).decision;
  expect(decide(bare())).toMatchObject({ desired: 4, wanted: 3 });
  expect(decide(bare()).limits).toEqual(['stabilization', 'scaleUpLimit']);
  expect(decide(exampleHpa())).toMatchObject({ desired: 3, wanted: 3, limits: [] });
});

test('no changes are remembered, not even those back into the bounds', () => {
  const config = bare({ maxReplicas: 5 });
  const start = hpaPolicy.start(config, { nowMs: 0, ready: 9 });
  const { state, decision } = hpaPolicy.decide(
    config,
    start,
    exampleObservation({ replicas: 9 }),
    NOW_MS,
  );
  expect(decision.desired).toBe(5);
  expect(state.behavior.events).toEqual([]);
});

test('what is remembered is bounded by the window: 1,000 decisions, 61 of them kept', () => {
  const config = bare({ downscaleStabilizationMs: MINUTE_MS });
  let kept: readonly Recommendation[] = [];
  for (let second = 0; second < 1_000; second++) {
    kept = rememberInWindow(config, kept, 3, second * 1_000);
  }
  expect(kept).toHaveLength(61);
});

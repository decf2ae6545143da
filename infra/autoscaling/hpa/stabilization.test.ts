import { expect, test } from 'vitest';
import { DEFAULT_BEHAVIOR, type ScalingRules } from './hpa-config.ts';
import { stabilize, type Recommendation } from './scaling-behavior.ts';
import { exampleHpa } from './testing/example-hpa.ts';

/** Restates kubernetes pkg/controller/podautoscaler/horizontal_test.go, commit 003e8629, by its names. */
const NOW_MS = 10_000_000;
const MINUTE_MS = 60_000;

const recommended = (...rows: readonly (readonly [replicas: number, minutesAgo: number])[]) =>
  rows.map(([replicas, minutes]): Recommendation => ({
    replicas,
    atMs: NOW_MS - minutes * MINUTE_MS,
  }));

/** TestNormalizeDesiredReplicas and TestNormalizeDesiredReplicasWithBehavior. */
test.each([
  { name: 'empty', was: [], up: 0, down: 0, current: 100, desired: 5, replicas: 5 },
  {
    name: 'simple scale down stabilization',
    was: recommended([4, 2], [5, 1]),
    up: 0,
    down: 180,
    current: 100,
    desired: 3,
    replicas: 5,
  },
  {
    name: 'simple scale up stabilization',
    was: recommended([4, 2], [5, 1]),
    up: 300,
    down: 0,
    current: 1,
    desired: 7,
    replicas: 4,
  },
  {
    name: 'no scale down stabilization',
    was: recommended([1, 2], [2, 1]),
    up: 300,
    down: 0,
    current: 100,
    desired: 3,
    replicas: 3,
  },
  {
    name: 'no scale up stabilization',
    was: recommended([4, 2], [5, 1]),
    up: 0,
    down: 300,
    current: 1,
    desired: 3,
    replicas: 3,
  },
  {
    name: 'scale down, old recommendations',
    was: recommended([10, 10], [9, 9]),
    up: 0,
    down: 0,
    current: 100,
    desired: 3,
    replicas: 3,
  },
  {
    name: 'scale up, old recommendations',
    was: recommended([10, 10], [9, 9]),
    up: 0,
    down: 0,
    current: 1,
    desired: 100,
    replicas: 100,
  },
  {
    name: 'scale down, some of them old',
    was: recommended([10, 10], [4, 1], [5, 2], [9, 9]),
    up: 0,
    down: 180,
    current: 100,
    desired: 3,
    replicas: 5,
  },
  {
    name: 'scale up, some of them old',
    was: recommended([10, 100], [6, 1], [5, 2], [9, 3]),
    up: 300,
    down: 0,
    current: 1,
    desired: 100,
    replicas: 5,
  },
  {
    name: 'both: not up when the recommendation goes down',
    was: recommended([2, 100], [3, 3]),
    up: 300,
    down: 300,
    current: 2,
    desired: 1,
    replicas: 2,
  },
  {
    name: 'both: not down when the recommendation goes up',
    was: recommended([2, 100], [1, 3]),
    up: 300,
    down: 300,
    current: 2,
    desired: 3,
    replicas: 2,
  },
  // Own row: one that is exactly a window old has no say any more.
  {
    name: 'the edge of the window',
    was: recommended([9, 3]),
    up: 0,
    down: 180,
    current: 9,
    desired: 3,
    replicas: 3,
  },
])('stabilisation: $name', ({ was, up, down, current, desired, replicas }) => {
  const rules = (windowS: number): ScalingRules => ({
    ...DEFAULT_BEHAVIOR.scaleUp,
    stabilizationWindowMs: windowS * 1_000,
  });
  const config = exampleHpa({ behavior: { scaleUp: rules(up), scaleDown: rules(down) } });
  const state = { events: [], recommendations: was };
  expect(stabilize(config, state, current, desired, NOW_MS)).toBe(replicas);
});

test("without a window of its own scale-down has the controller's 300 s", () => {
  const state = { events: [], recommendations: recommended([9, 4.9]) };
  expect(stabilize(exampleHpa(), state, 9, 3, NOW_MS)).toBe(9);
  const shorter = exampleHpa({ downscaleStabilizationMs: 60_000 });
  expect(stabilize(shorter, state, 9, 3, NOW_MS)).toBe(3);
});

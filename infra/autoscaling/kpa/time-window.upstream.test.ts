import { expect, test } from 'vitest';
import {
  averageAt,
  emptyWindow,
  isEmptyAt,
  recordIn,
  resizedTo,
  smoothingCoefficient,
  weightedAverageAt,
  type TimeWindow,
} from './time-window.ts';

/**
 * Restates knative/serving pkg/autoscaler/aggregation/bucketing_test.go, commit 98e5ef90, by the names of
 * its tests. Upstream's "now" is any moment; here it lies within a second and far from 0.
 */
const T0 = 1_000_000_400;
const at = (seconds: number): number => T0 + seconds * 1_000;

/** Records [second, value] pairs, in their order. */
const filled = (window: TimeWindow, ...values: readonly (readonly [number, number])[]) =>
  values.reduce((known, [second, value]) => recordIn(known, at(second), value), window);

const sum = ({ buckets }: TimeWindow): number => buckets.reduce((total, value) => total + value, 0);

test.each([
  { buckets: 100, want: 0.2 },
  { buckets: 60, want: 0.2 },
  { buckets: 40, want: 0.20567 },
  { buckets: 6, want: 0.78456 },
])('TestComputeDecayMultiplier: $buckets buckets → $want', ({ buckets, want }) => {
  // Upstream allows for 0.9999, which accepts anything; its own figures have five digits.
  expect(smoothingCoefficient(buckets)).toBeCloseTo(want, 5);
});

test.each([
  {
    name: 'granularity = 1s',
    granularityMs: 1_000,
    // From the activator, then a scrape of the same second; the next; one left out.
    stats: [
      [0, 1],
      [0.1, 10],
      [1, 1],
      [3, 1],
    ],
    want: { 0: 11, 1: 1, 3: 1 },
  },
  {
    name: 'granularity = 5s',
    granularityMs: 5_000,
    stats: [
      [0, 1],
      [3, 11],
      [6, 1],
    ],
    want: { 0: 12, 1: 1 },
  },
  { name: 'empty', granularityMs: 1_000, stats: [], want: {} },
])('TestTimedFloat64BucketsSimple: $name', ({ granularityMs, stats, want }) => {
  const startMs = 1_000_000_000;
  let window = emptyWindow(120_000, granularityMs);
  expect(isEmptyAt(window, startMs)).toBe(true);
  for (const [second = 0, value = 0] of stats) {
    window = recordIn(window, startMs + second * 1_000, value);
  }
  const first = startMs / granularityMs;
  const count = window.buckets.length;
  const found = window.buckets.flatMap((value, place) =>
    value > 0 ? [[(place - (first % count) + count) % count, value] as const] : [],
  );
  expect(Object.fromEntries(found)).toEqual(want);
});

/** Five values p … p+4 in one second. */
const five = (p: number): number[] => [0, 1, 2, 3, 4].map((t) => p + t);

test.each([
  { name: 'TestTimedFloat64BucketsManyReps', seconds: [0, 1, 2, 3, 4], want: [10, 15, 20, 25, 30] },
  {
    name: 'TestTimedFloat64BucketsManyRepsWithNonMonotonicalOrder',
    seconds: [0, 3, 2, 1, 4],
    want: [10, 25, 20, 15, 30],
  },
])('$name', ({ seconds, want }) => {
  let window = emptyWindow(60_000);
  for (const [p, second] of seconds.entries()) {
    window = filled(window, ...five(p).map((value) => [second, value] as const));
  }
  expect(window.total).toBe(100);
  const first = Math.floor(T0 / 1_000) % 60;
  expect(want.map((_, second) => window.buckets[(first + second) % 60])).toEqual(want);
});

test('TestTimedFloat64BucketsWeightedAverage', () => {
  const c = smoothingCoefficient(5);
  let window = filled(emptyWindow(5_000), [0, 2]);
  expect(weightedAverageAt(window, at(0))).toBe(2 * c);
  // A second later without a write.
  expect(weightedAverageAt(window, at(1))).toBe(2 * c * (1 - c));
  window = filled(window, [1, 2]);
  expect(weightedAverageAt(window, at(1))).toBe(2 * c * (1 - c) + 2 * c);
  window = filled(window, [2, 2], [3, 3], [4, 4], [5, 5], [6, 6]);
  const d = 1 - c;
  const want = 6 * c + 5 * c * d + 4 * c * d ** 2 + 3 * c * d ** 3 + 2 * c * d ** 4;
  expect(weightedAverageAt(window, at(6))).toBeCloseTo(want, 12);
  expect(weightedAverageAt(window, at(16))).toBe(0);
});

test('the weighted average minds the order, the plain one does not', () => {
  const c = smoothingCoefficient(4);
  const falling = filled(emptyWindow(4_000), [0, 10], [1, 10], [2, 5], [3, 5]);
  const rising = filled(emptyWindow(4_000), [0, 5], [1, 5], [2, 10], [3, 10]);
  const by = (newestFirst: readonly number[]): number =>
    newestFirst.reduce((total, value, back) => total + value * c * (1 - c) ** back, 0);
  expect(weightedAverageAt(falling, at(3))).toBeCloseTo(by([5, 5, 10, 10]), 12);
  expect(weightedAverageAt(rising, at(3))).toBeCloseTo(by([10, 10, 5, 5]), 12);
  expect(averageAt(falling, at(3))).toBe(averageAt(rising, at(3)));
});

test('TestTimedFloat64BucketsWindowAverage', () => {
  let window = filled(emptyWindow(5_000), [0, 1]);
  // By the first write; without it this were 0.2.
  expect(averageAt(window, at(0))).toBe(1);
  window = filled(window, [1, 2], [2, 3], [3, 4], [4, 5]);
  expect(averageAt(window, at(4))).toBe(15 / 5);
  expect(averageAt(window, at(3.6))).toBe(15 / 5);
  // A short hole, a long one.
  expect(averageAt(window, at(6))).toBe((15 - 1 - 2) / (5 - 2));
  expect(averageAt(window, at(10))).toBe(0);
  window = filled(window, [6, 91]);
  expect(averageAt(window, at(6))).toBe((15 - 1 - 2 + 91) / 5);
  // Much later, and then from before it.
  window = filled(window, [60, 1984]);
  expect(averageAt(window, at(60))).toBe(1984);
  window = filled(window, [57, 4]);
  expect(averageAt(window, at(60))).toBe((4 + 1984) / 4);
  window = filled(window, [61, 5]);
  expect(averageAt(window, at(61))).toBe((4 + 1984 + 5) / 5);
  window = filled(window, [58, 10]);
  const want = (4 + 10 + 1984 + 5) / 5;
  expect(averageAt(window, at(61))).toBe(want);
  // A window's length before the newest, and more: dropped.
  window = filled(window, [55, 10]);
  expect(averageAt(window, at(61))).toBe(want);
  window = filled(window, [56, 10]);
  expect(averageAt(window, at(61))).toBe(want);
  // Exactly a window without data.
  window = filled(window, [66, 10]);
  expect(averageAt(window, at(66))).toBe(10);
});

test('TestDescendingRecord', () => {
  const seconds = [8, 7, 6, 5, 4, 3, 2, 1, 0];
  const window = filled(emptyWindow(5_000), ...seconds.map((second) => [second, 5] as const));
  expect(averageAt(window, at(5))).toBe(5);
});

test('TestTimedFloat64BucketsHoles', () => {
  let window = filled(emptyWindow(5_000), [0, 1], [1, 2], [2, 3], [3, 4], [4, 5]);
  expect(sum(window)).toBe(15);
  expect(averageAt(window, at(4))).toBe(15 / 5);
  // Seconds 5, 6 and 7 become 0: what is left is 5 of the fourth and 2.
  window = filled(window, [8, 2]);
  expect(sum(window)).toBe(7);
});

const ONE_TO_SIX = [1, 2, 3, 4, 5, 6].map((value) => [value - 1, value] as const);

test('TestWeightedFloat64BucketsResizeWindow', () => {
  const window = filled(emptyWindow(5_000), ...ONE_TO_SIX);
  expect(sum(window)).toBe(2 + 3 + 4 + 5 + 6);
  expect(weightedAverageAt(window, at(5))).toBeCloseTo(5.812, 3);
  const longer = resizedTo(window, 10_000, at(5));
  expect(longer.buckets).toHaveLength(10);
  expect(longer.windowMs).toBe(10_000);
  // The coefficient follows the number of buckets.
  const c = smoothingCoefficient(10);
  const want = [6, 5, 4, 3, 2].reduce((total, value, i) => total + value * c * (1 - c) ** i, 0);
  expect(weightedAverageAt(longer, at(5))).toBeCloseTo(want, 12);
});

test('TestTimedFloat64BucketsResizeWindow', () => {
  let window = filled(emptyWindow(5_000), ...ONE_TO_SIX);
  expect(sum(window)).toBe(20);
  expect(averageAt(window, at(5))).toBe(20 / 5);
  window = resizedTo(window, 10_000, at(5));
  expect(window.buckets).toHaveLength(10);
  expect(sum(window)).toBe(20);
  // Five buckets at most are known.
  expect(averageAt(window, at(5))).toBe(20 / 5);
  window = filled(window, [6, 7]);
  expect(sum(window)).toBe(27);
  expect(averageAt(window, at(6))).toBe(27 / 6);
  window = resizedTo(window, 4_000, at(6));
  expect(window.buckets).toHaveLength(4);
  expect(sum(window)).toBe(27 - 2 - 3);
  expect(averageAt(window, at(6))).toBe(22 / 4);
  expect(resizedTo(window, 4_000, at(6))).toBe(window);
});

test('TestTimedFloat64BucketsWindowUpdate3sGranularity', () => {
  const startMs = 1_000_002_000;
  expect(startMs % 3_000).toBe(0);
  let window = emptyWindow(5_000, 3_000);
  expect(window.buckets).toHaveLength(2);
  // The seventh overwrites the first three: 10 + 2 + 3.
  for (const [second, value] of [10, 2, 3, 4, 5, 6, 7].entries()) {
    window = recordIn(window, startMs + second * 1_000, value);
  }
  expect(sum(window)).toBe(4 + 5 + 6 + 7);
  window = resizedTo(window, 10_000, startMs + 6_000);
  expect(window.buckets).toHaveLength(4);
  expect(sum(window)).toBe(22);
  window = recordIn(window, startMs + 9_300, 42);
  expect(sum(window)).toBe(64);
  window = resizedTo(window, 4_000, startMs + 9_300);
  expect(window.buckets).toHaveLength(2);
  expect(sum(window)).toBe(42 + 7);
  expect(resizedTo(window, 4_000, startMs + 9_300)).toBe(window);
});

test('TestTimedFloat64BucketsWindowUpdateNoOp: nothing within the window, the first write is forgotten', () => {
  const window = filled(emptyWindow(5_000), [-60, 19.82]);
  expect(window.firstMs).toBe(window.lastMs);
  const longer = resizedTo(window, 10_000, at(0));
  expect(longer.firstMs).toBeNull();
  expect(averageAt(longer, at(0))).toBe(0);
});

test('TestRoundToNDigits: what floating point leaves behind is no load', () => {
  let window = filled(emptyWindow(2_000), [0, 0.1], [0, 0.2]);
  // 0.1 + 0.2 − 0.30000000000000004, and the like, are 0, and not −0.
  window = filled(window, [0, -0.3]);
  expect(window.total).not.toBe(0);
  expect(averageAt(window, at(0))).toBe(0);
  expect(averageAt(filled(emptyWindow(2_000), [0, -3.6e-17]), at(0))).toBe(0);
  expect(averageAt(filled(emptyWindow(2_000), [0, 1.2345674]), at(0))).toBe(1.234567);
  expect(averageAt(filled(emptyWindow(2_000), [0, 12_345]), at(0))).toBe(12_345);
});

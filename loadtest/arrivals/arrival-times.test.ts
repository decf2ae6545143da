import fc from 'fast-check';
import { expect, test } from 'vitest';
import { randomStream } from '#kernel/core/random.ts';
import { arrivalTimes, MAX_ARRIVALS } from './arrival-times.ts';

const times = (kind: 'constant' | 'poisson', ratePerS: number, durationMs: number, seed = 1) =>
  arrivalTimes({ kind, ratePerS }, durationMs, randomStream(seed, 'arrivals'));

test('arrivalTimes + constant: equal distances from 0, the end excluded', () => {
  expect(times('constant', 4, 1_000)).toEqual([0, 250, 500, 750]);
  expect(times('constant', 3, 1_000)).toHaveLength(3);
  expect(times('constant', 0.5, 1_000)).toEqual([0]);
});

test('arrivalTimes + any rate: within the duration, ascending, a pure function of the seed', () => {
  const kinds = fc.constantFrom('constant' as const, 'poisson' as const);
  const rates = fc.double({ min: 0.1, max: 200, noNaN: true });
  fc.assert(
    fc.property(kinds, rates, fc.integer({ min: 0, max: 9 }), (kind, rate, seed) => {
      const all = times(kind, rate, 2_000, seed);
      expect(all.every((time) => time >= 0 && time < 2_000)).toBe(true);
      expect(all).toEqual(all.toSorted((a, b) => a - b));
      expect(times(kind, rate, 2_000, seed)).toEqual(all);
    }),
  );
});

test('arrivalTimes + poisson: mean and variance of the distances are those of an exponential', () => {
  const all = times('poisson', 100, 1_000_000);
  const gaps = all.slice(1).map((time, index) => time - (all[index] ?? 0));
  const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
  const variance = gaps.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / gaps.length;
  // 100,000 distances of 10 ms: the mean is within 1 % (3 standard errors), the CV within 2 % of 1.
  expect(mean).toBeGreaterThan(9.9);
  expect(mean).toBeLessThan(10.1);
  expect(Math.sqrt(variance) / mean).toBeCloseTo(1, 1);
});

test('arrivalTimes beyond the limit: refused; at it: planned', () => {
  expect(times('constant', 1_000, MAX_ARRIVALS)).toHaveLength(MAX_ARRIVALS);
  expect(() => times('constant', 1_001, MAX_ARRIVALS)).toThrow(/1001000 batches.*at most 1000000/);
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { randomStream } from '#kernel/core/random.ts';
import {
  arrivalsText,
  arrivalTimes,
  expectedArrivals,
  MAX_ARRIVALS,
  type Arrivals,
  type RateLevel,
} from './arrival-times.ts';

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

const step = (process: 'constant' | 'poisson', levels: readonly RateLevel[]): Arrivals => ({
  kind: 'step',
  process,
  levels,
});

test.each<[string, readonly RateLevel[], number, readonly number[]]>([
  [
    'quiet, busy, quiet: only the busy level has arrivals, from its beginning',
    [
      { ratePerS: 0, forMs: 2_000 },
      { ratePerS: 4, forMs: 1_000 },
      { ratePerS: 0, forMs: 1_000 },
    ],
    4_000,
    [2_000, 2_250, 2_500, 2_750],
  ],
  [
    'a unit begun in one level ends in the next: 0.5 of it at 1/s, the rest at 10/s',
    [
      { ratePerS: 1, forMs: 500 },
      { ratePerS: 10, forMs: 150 },
    ],
    650,
    [0, 550],
  ],
  ['cut by the duration', [{ ratePerS: 4, forMs: 1_000 }], 500, [0, 250]],
  ['after the last level: nothing', [{ ratePerS: 4, forMs: 500 }], 60_000, [0, 250]],
  ['no level', [], 1_000, []],
])('arrivalTimes + step, constant: %s', (_, levels, durationMs, expected) => {
  const random = randomStream(1, 'arrivals');
  const found = arrivalTimes(step('constant', levels), durationMs, random);
  expect(found).toHaveLength(expected.length);
  for (const [index, timeMs] of found.entries()) expect(timeMs).toBeCloseTo(expected[index] ?? -1);
});

const someLevels = fc.array(
  fc.record({
    ratePerS: fc.oneof(fc.constant(0), fc.double({ min: 0.1, max: 50, noNaN: true })),
    forMs: fc.integer({ min: 1, max: 5_000 }),
  }),
  { maxLength: 6 },
);

test('arrivalTimes + step, constant: the count over a span is the integral of the rate', () => {
  fc.assert(
    fc.property(someLevels, fc.integer({ min: 1, max: 20_000 }), (levels, durationMs) => {
      const arrivals = step('constant', levels);
      const found = arrivalTimes(arrivals, durationMs, randomStream(1, 'arrivals'));
      // The first one stands at the beginning of its unit: between the integral and one more.
      const integral = expectedArrivals(arrivals, durationMs);
      expect(found.length).toBeGreaterThanOrEqual(integral - 1e-6);
      expect(found.length).toBeLessThan(integral + 1 + 1e-6);
    }),
  );
});

test('arrivalTimes + step: ascending, nothing at rate 0, a pure function of the seed', () => {
  const processes = fc.constantFrom('constant' as const, 'poisson' as const);
  fc.assert(
    fc.property(processes, someLevels, fc.integer({ min: 0, max: 9 }), (process, levels, seed) => {
      const plan = (): number[] =>
        arrivalTimes(step(process, levels), 15_000, randomStream(seed, 'arrivals'));
      const found = plan();
      expect(found).toEqual(found.toSorted((a, b) => a - b));
      expect(plan()).toEqual(found);
      let startMs = 0;
      for (const { ratePerS, forMs } of levels) {
        const endMs = startMs + forMs;
        const within = found.filter((time) => time >= startMs && time < endMs);
        if (ratePerS === 0) expect(within).toEqual([]);
        startMs = endMs;
      }
      expect(found.every((time) => time < Math.min(startMs, 15_000))).toBe(true);
    }),
  );
});

test('arrivalTimes + step, poisson: each level has its own rate', () => {
  const levels = [
    { ratePerS: 100, forMs: 200_000 },
    { ratePerS: 400, forMs: 100_000 },
  ];
  const found = arrivalTimes(step('poisson', levels), 300_000, randomStream(3, 'arrivals'));
  const first = found.filter((time) => time < 200_000).length;
  // 20,000 and 40,000 expected, with standard deviations of 141 and 200: within 4 of them.
  expect(Math.abs(first - 20_000)).toBeLessThan(566);
  expect(Math.abs(found.length - first - 40_000)).toBeLessThan(800);
});

test('arrivalTimes + step beyond the limit: refused', () => {
  const levels = [{ ratePerS: 100_000, forMs: 10_001 }];
  expect(() => arrivalTimes(step('constant', levels), 60_000, randomStream(1, 'arrivals'))).toThrow(
    /1000100 batches.*at most 1000000/,
  );
});

test.each<[Arrivals, string]>([
  [{ kind: 'poisson', ratePerS: 20 }, '20/s, poisson arrivals'],
  [
    step('constant', [
      { ratePerS: 0, forMs: 5_000 },
      { ratePerS: 8.5, forMs: 40_000 },
    ]),
    '0/s 5 s, 8.5/s 40 s, constant arrivals',
  ],
])('arrivalsText of %j', (arrivals, text) => {
  expect(arrivalsText(arrivals)).toBe(text);
});

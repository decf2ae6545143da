import fc from 'fast-check';
import { expect, test } from 'vitest';
import { randomStream } from '../core/random.ts';
import type { Amount } from './demand.ts';
import { drawAmount, meanOf } from './draw-amount.ts';
import { amounts } from './testing/arbitrary-demands.ts';

const DRAWS = 40_000;

function draws(amount: Amount): number[] {
  const random = randomStream(7, JSON.stringify(amount));
  return Array.from({ length: DRAWS }, () => drawAmount(amount, random));
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

const sd = (values: readonly number[]): number => {
  const middle = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - middle) ** 2)));
};

test.each<[Amount, number, number]>([
  [{ kind: 'constant', value: 50 }, 50, 0],
  [{ kind: 'uniform', min: 10, max: 40 }, 25, 30 / Math.sqrt(12)],
  [{ kind: 'exponential', mean: 20 }, 20, 20],
  [{ kind: 'lognormal', mean: 50, cv: 0.5 }, 50, 25],
  [{ kind: 'lognormal', mean: 50, cv: 0 }, 50, 0],
  [{ kind: 'normal', mean: 100, sd: 10 }, 100, 10],
  [{ kind: 'normal', mean: 5, sd: 0 }, 5, 0],
  // The half-normal: mean sqrt(2/pi), standard deviation sqrt(1 - 2/pi).
  [{ kind: 'normal', mean: 0, sd: 1 }, Math.sqrt(2 / Math.PI), Math.sqrt(1 - 2 / Math.PI)],
  // With l = phi(1)/Phi(1) = 0.28760: mean 1 + l, variance 1 - l - l² = 0.62968.
  [{ kind: 'normal', mean: 1, sd: 1 }, 1.287_6, 0.793_53],
  [{ kind: 'empirical', file: 'x', values: [1, 2, 3, 10] }, 4, Math.sqrt(12.5)],
])('drawAmount of %j has the mean %d and the standard deviation %d', (amount, wanted, wantedSd) => {
  expect(meanOf(amount)).toBeCloseTo(wanted, 4);
  const values = draws(amount);
  // Five standard errors; the stream is fixed, so this either always holds or never.
  expect(Math.abs(mean(values) - wanted)).toBeLessThanOrEqual(
    (5 * wantedSd) / Math.sqrt(DRAWS) + 1e-9,
  );
  expect(Math.abs(sd(values) - wantedSd)).toBeLessThanOrEqual(0.04 * wantedSd + 1e-9);
});

test('a lognormal of mean 0 is 0', () => {
  expect(drawAmount({ kind: 'lognormal', mean: 0, cv: 1 }, randomStream(1, 'x'))).toBe(0);
});

test('drawAmount is finite and never negative', () => {
  fc.assert(
    fc.property(amounts(60_000), fc.integer(), (amount, seed) => {
      const value = drawAmount(amount, randomStream(seed, 'property'));
      expect(Number.isFinite(value) && value >= 0).toBe(true);
    }),
  );
});

test('the same stream gives the same amounts', () => {
  const amount: Amount = { kind: 'exponential', mean: 20 };
  expect(draws(amount)).toEqual(draws(amount));
});

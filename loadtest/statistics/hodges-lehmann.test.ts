import { expect, test } from 'vitest';
import { cliffsDelta, effectSize } from './cliffs-delta.ts';
import { MAX_EXACT_PAIRS, MAX_PAIRS, pairedShift, signedRankChances } from './hodges-lehmann.ts';
import fixtures from './fixtures/statistics.json' with { type: 'json' };

test.each(fixtures.shifts)('pairedShift: as by enumeration of all signs in NumPy', (expected) => {
  const shift = pairedShift(expected.differences, 0.95);
  expect(shift.pairs).toBe(expected.differences.length);
  expect(shift.estimate).toBeCloseTo(expected.estimate, 12);
  expect([shift.low, shift.high]).toEqual([expected.low, expected.high]);
  expect(shift.level).toBeCloseTo(expected.level, 12);
  // The interval leaves 0 out just when SciPy's signed-rank test is significant at its level.
  const without0 = shift.low > 0 || shift.high < 0;
  expect(without0).toBe(expected.wilcoxonP <= 1 - shift.level + 1e-12);
});

test('pairedShift of five pairs: 93.75 % at most; of six: 96.9 %', () => {
  expect(pairedShift([1, 2, 3, 4, 5], 0.95).level).toBeCloseTo(0.9375, 12);
  expect(pairedShift([1, 2, 3, 4, 5, 6], 0.95).level).toBeCloseTo(0.96875, 12);
});

test('pairedShift beyond the exact size: about what the exact one says', () => {
  const differences = Array.from({ length: MAX_EXACT_PAIRS + 1 }, (_, index) => index);
  const near = pairedShift(differences, 0.95);
  const exact = pairedShift(differences.slice(0, -1), 0.95);
  expect(Math.abs(near.low - exact.low)).toBeLessThan(2);
  expect(Math.abs(near.high - exact.high)).toBeLessThan(2);
  expect(near.estimate).toBe(25);
});

test('pairedShift of none: no estimate; of more than the limit: refused', () => {
  expect(pairedShift([], 0.95)).toMatchObject({ estimate: Number.NaN, pairs: 0 });
  const many = Array.from({ length: MAX_PAIRS + 1 }, () => 0);
  expect(() => pairedShift(many, 0.95)).toThrow('at most');
});

test('signedRankChances of three: one order in eight for 0, two for 3', () => {
  expect(signedRankChances(3)).toEqual([1, 1, 1, 2, 1, 1, 1].map((count) => count / 8));
});

test.each(fixtures.deltas)("cliffsDelta: as SciPy's Mann-Whitney U", ({ first, second, delta }) => {
  expect(cliffsDelta(first, second)).toBeCloseTo(delta, 12);
  expect(cliffsDelta(second, first)).toBeCloseTo(-delta, 12);
});

test.each([
  [0, 'negligible'],
  [-0.147, 'small'],
  [0.33, 'medium'],
  [0.474, 'large'],
  [-1, 'large'],
] as const)('effectSize of %d: %s', (delta, word) => {
  expect(effectSize(delta)).toBe(word);
});

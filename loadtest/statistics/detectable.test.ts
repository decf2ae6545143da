import { expect, test } from 'vitest';
import {
  correlationPower,
  criticalCorrelation,
  detectableCorrelation,
  pairsNeeded,
} from './correlation-power.ts';
import { detectableGroupSd, detectableShift, sdRange } from './detectable-difference.ts';
import fixtures from './fixtures/statistics.json' with { type: 'json' };

const { power } = fixtures;
const USUAL = { power: 0.8, alpha: 0.05 };

test.each(power.correlation)(
  'correlationPower of $pairs pairs, true $correlation: as simulated in NumPy',
  (expected) => {
    const { pairs, correlation } = expected;
    expect(criticalCorrelation(pairs, 0.05)).toBeCloseTo(expected.critical, 8);
    const found = correlationPower(pairs, correlation, 0.05);
    expect(Math.abs(found - expected.power)).toBeLessThan(0.015);
  },
);

test('detectableCorrelation of seven pairs: the one that has 80 % power', () => {
  const smallest = detectableCorrelation(7, 0.8, 0.05);
  expect(correlationPower(7, smallest, 0.05)).toBeCloseTo(0.8, 9);
  expect(smallest).toBeGreaterThan(0.85);
});

test('pairsNeeded for 0.5: 29, and one fewer is too few', () => {
  expect(pairsNeeded(0.5, 0.8, 0.05)).toBe(29);
  expect(correlationPower(28, 0.5, 0.05)).toBeLessThan(0.8);
  expect(pairsNeeded(0.001, 0.8, 0.05)).toBeNaN();
});

test('powers of designs too small to have one: NaN', () => {
  expect(criticalCorrelation(2, 0.05)).toBeNaN();
  expect(correlationPower(3, 0.5, 0.05)).toBeNaN();
  expect(detectableCorrelation(3, 0.8, 0.05)).toBeNaN();
  expect(detectableShift(1, 1, USUAL)).toBeNaN();
  expect(detectableGroupSd({ groups: 1, perGroup: 5 }, 1, USUAL)).toBeNaN();
  expect(detectableGroupSd({ groups: 5, perGroup: 1 }, 1, USUAL)).toBeNaN();
  expect(sdRange(1, 0.95).low).toBeNaN();
});

test.each(power.shift)('detectableShift of $pairs pairs: as statsmodels to 3 %', (expected) => {
  const found = detectableShift(expected.pairs, 1, USUAL);
  expect(Math.abs(found / expected.shift - 1)).toBeLessThan(0.03);
});

test.each(power.groups)('detectableGroupSd of $groups × $perGroup: as SciPy', (expected) => {
  expect(detectableGroupSd(expected, 1, USUAL)).toBeCloseTo(expected.sd, 8);
  expect(detectableGroupSd(expected, 3, USUAL)).toBeCloseTo(3 * expected.sd, 8);
});

test('sdRange of five values: 0.60 to 2.87', () => {
  const { low, high } = sdRange(5, 0.95);
  expect(low).toBeCloseTo(0.6, 2);
  expect(high).toBeCloseTo(2.87, 2);
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { boxPlot } from './box-plot.ts';
import { quantile } from './quantile.ts';
import {
  coefficientOfVariation,
  mean,
  median,
  medianAbsoluteDeviation,
  standardDeviation,
} from './sample.ts';
import fixtures from './fixtures/statistics.json' with { type: 'json' };

test.each(fixtures.samples)('moments and quantiles of $name: as NumPy and SciPy', (sample) => {
  const { values } = sample;
  expect(mean(values)).toBeCloseTo(sample.mean, 9);
  expect(median(values)).toBeCloseTo(sample.median, 12);
  expect(medianAbsoluteDeviation(values)).toBeCloseTo(sample.mad, 12);
  for (const [p = 0, value = 0] of sample.quantiles) {
    expect(quantile(values, p)).toBeCloseTo(value, 10);
  }
  if (sample.sd === null || sample.cv === null) {
    expect(standardDeviation(values)).toBeNaN();
  } else {
    expect(standardDeviation(values)).toBeCloseTo(sample.sd, 12);
    expect(coefficientOfVariation(values)).toBeCloseTo(sample.cv, 12);
  }
});

test('statistics of nothing: NaN', () => {
  for (const of of [mean, median, standardDeviation, medianAbsoluteDeviation]) {
    expect(of([])).toBeNaN();
  }
  expect(quantile([], 0.5)).toBeNaN();
});

test('coefficientOfVariation around 0: NaN, not infinity', () => {
  expect(coefficientOfVariation([-1, 1])).toBeNaN();
  expect(coefficientOfVariation([-1, -3])).toBeCloseTo(Math.SQRT1_2, 12);
});

test.each(fixtures.boxPlots)('boxPlot: quartiles, whiskers and outliers as NumPy', (expected) => {
  const box = boxPlot(expected.values);
  expect(box.q1).toBeCloseTo(expected.q1, 10);
  expect(box.median).toBeCloseTo(expected.median, 10);
  expect(box.q3).toBeCloseTo(expected.q3, 10);
  expect([box.low, box.high]).toEqual([expected.low, expected.high]);
  expect(box.outliers).toEqual(expected.outliers);
  expect(box.n).toBe(expected.values.length);
});

test('boxPlot of one value: all in one place', () => {
  expect(boxPlot([4])).toMatchObject({ low: 4, q1: 4, median: 4, q3: 4, high: 4, outliers: [] });
});

test('quantile: between the extremes, rising with p, whatever the order of the values', () => {
  const values = fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 1 });
  const share = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(values, share, share, (sample, p, q) => {
      const [low, high] = [quantile(sample, Math.min(p, q)), quantile(sample, Math.max(p, q))];
      expect(low).toBeLessThanOrEqual(high + 1e-9);
      expect(low).toBeGreaterThanOrEqual(Math.min(...sample) - 1e-9);
      expect(quantile([...sample].reverse(), p)).toBe(quantile(sample, p));
    }),
  );
});

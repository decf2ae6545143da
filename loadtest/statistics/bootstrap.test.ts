import { expect, test } from 'vitest';
import { randomStream } from '#kernel/core/random.ts';
import { bcaShares, clusterBootstrap, MAX_RESAMPLES } from './bootstrap.ts';
import { mean, median, standardDeviation } from './sample.ts';
import fixtures from './fixtures/statistics.json' with { type: 'json' };
import type { BootstrapMethod } from './bootstrap.ts';

const STATISTICS: Readonly<Record<string, (values: readonly number[]) => number>> = {
  mean,
  sd: standardDeviation,
  median,
};
const random = () => randomStream(7, 'bootstrap');

test.each(fixtures.bootstrap.rows)(
  'clusterBootstrap of single rows, $method of the $statistic: as SciPy',
  ({ statistic, method, values, low, high }) => {
    const interval = clusterBootstrap(
      values.map((value) => [value]),
      STATISTICS[statistic] ?? mean,
      { random: random(), method: method as BootstrapMethod, level: 0.95, resamples: 20_000 },
    );
    const width = high - low;
    expect(Math.abs(interval.low - low)).toBeLessThan(0.05 * width);
    expect(Math.abs(interval.high - high)).toBeLessThan(0.05 * width);
  },
);

test('clusterBootstrap of unequal clusters: as resampled with NumPy, wider than over rows', () => {
  const { clusters, low, high } = fixtures.bootstrap.clusters;
  const options = { method: 'percentile', level: 0.95, resamples: 20_000 } as const;
  const interval = clusterBootstrap(clusters, mean, { ...options, random: random() });
  const width = high - low;
  expect(Math.abs(interval.low - low)).toBeLessThan(0.05 * width);
  expect(Math.abs(interval.high - high)).toBeLessThan(0.05 * width);
  const rows = clusters.flat().map((value) => [value]);
  const byRow = clusterBootstrap(rows, mean, { ...options, random: random() });
  expect(byRow.high - byRow.low).toBeLessThan(0.75 * width);
});

test('bcaShares: as the formula in SciPy terms', () => {
  const { drawn, jackknife, estimate, shares } = fixtures.bca;
  const [from, until] = bcaShares(estimate, drawn, jackknife, 0.025);
  expect(from).toBeCloseTo(shares[0] ?? Number.NaN, 9);
  expect(until).toBeCloseTo(shares[1] ?? Number.NaN, 9);
});

test('bcaShares with every resample on one side: the percentiles', () => {
  expect(bcaShares(0, [1, 2, 3], [1, 2], 0.025)).toEqual([0.025, 0.975]);
});

test('clusterBootstrap of one cluster: an estimate without bounds', () => {
  const options = { random: random(), method: 'percentile', level: 0.95 } as const;
  expect(clusterBootstrap([[1, 2, 3]], mean, options)).toEqual({
    estimate: 2,
    low: Number.NaN,
    high: Number.NaN,
  });
});

test('clusterBootstrap of a statistic that is mostly undefined: no bounds', () => {
  const options = { random: random(), method: 'percentile', level: 0.95 } as const;
  const undefinedMostly = (rows: readonly number[]): number =>
    rows.length > 0 && rows.every((row) => row === 1) ? 1 : Number.NaN;
  expect(clusterBootstrap([[1], [2], [3]], undefinedMostly, options).low).toBeNaN();
});

test('clusterBootstrap of equal values: both bounds on the estimate', () => {
  const options = { random: random(), method: 'bca', level: 0.95 } as const;
  expect(clusterBootstrap([[5], [5], [5]], mean, options)).toEqual({
    estimate: 5,
    low: 5,
    high: 5,
  });
});

test('clusterBootstrap with more resamples than the limit: refused', () => {
  const options = { random: random(), method: 'bca', level: 0.95 } as const;
  const ask = (resamples: number) => () =>
    clusterBootstrap([[1], [2]], mean, { ...options, resamples });
  expect(ask(MAX_RESAMPLES + 1)).toThrow('bounded');
});

import type { Random } from '#kernel/core/random.ts';
import { assert } from '#kernel/core/assert.ts';
import { normalCdf, normalQuantile } from './distributions.ts';
import { mean } from './sample.ts';
import { quantileOfSorted, sorted } from './quantile.ts';

export type BootstrapMethod = 'percentile' | 'bca';

/** An estimate with the bounds that hold it at the level; NaN bounds: the sample has none. */
export interface Interval {
  readonly estimate: number;
  readonly low: number;
  readonly high: number;
}

export interface BootstrapOptions {
  readonly random: Random;
  readonly method: BootstrapMethod;
  /** 0.95: 95 %. */
  readonly level: number;
  /** Default 2,000, at most 100,000. */
  readonly resamples?: number;
}

const DEFAULT_RESAMPLES = 2_000;
export const MAX_RESAMPLES = 100_000;

/**
 * Interval of a statistic by resampling whole clusters with replacement: rows of one cluster (the
 * bursts of one execution) are not independent, so they come and go together. With clusters of one row
 * it is the ordinary bootstrap.
 *
 * Resamples for which the statistic is not a number (a correlation of equal values) are left out; with
 * more than half left out, or with fewer than two clusters, the bounds are NaN.
 *
 * Source: B. Efron, R. Tibshirani, "An Introduction to the Bootstrap", 1993, chapters 13 and 14.
 */
export function clusterBootstrap<Row>(
  clusters: readonly (readonly Row[])[],
  statistic: (rows: readonly Row[]) => number,
  options: BootstrapOptions,
): Interval {
  const { random, method, level, resamples = DEFAULT_RESAMPLES } = options;
  assert(resamples >= 1 && resamples <= MAX_RESAMPLES, 'resamples are bounded');
  const estimate = statistic(clusters.flat());
  if (clusters.length < 2) return { estimate, low: Number.NaN, high: Number.NaN };
  const drawn: number[] = [];
  for (let resample = 0; resample < resamples; resample++) {
    const rows = clusters.flatMap(() => clusters[random.below(clusters.length)] ?? []);
    const value = statistic(rows);
    if (!Number.isNaN(value)) drawn.push(value);
  }
  if (drawn.length * 2 < resamples) return { estimate, low: Number.NaN, high: Number.NaN };
  const tail = (1 - level) / 2;
  const [from, until] =
    method === 'percentile'
      ? [tail, 1 - tail]
      : bcaShares(estimate, drawn, leaveOneOut(clusters, statistic), tail);
  const values = sorted(drawn);
  return { estimate, low: quantileOfSorted(values, from), high: quantileOfSorted(values, until) };
}

function leaveOneOut<Row>(
  clusters: readonly (readonly Row[])[],
  statistic: (rows: readonly Row[]) => number,
): readonly number[] {
  return clusters.map((_, left) =>
    statistic(clusters.filter((__, index) => index !== left).flat()),
  );
}

/**
 * Which quantiles of the resampled statistic bound the interval: bias-corrected and accelerated. The
 * bias correction is the share of resamples below the estimate (a tie counts half), the acceleration
 * the skewness of the leave-one-out estimates.
 */
export function bcaShares(
  estimate: number,
  drawn: readonly number[],
  jackknife: readonly number[],
  tail: number,
): readonly [from: number, until: number] {
  const below = drawn.filter((value) => value < estimate).length;
  const equal = drawn.filter((value) => value === estimate).length;
  const share = (below + equal / 2) / drawn.length;
  // All resamples on one side: the correction is without bound, and the percentile bounds are all there is.
  if (share === 0 || share === 1 || jackknife.some(Number.isNaN)) return [tail, 1 - tail];
  const bias = normalQuantile(share);
  const centre = mean(jackknife);
  const squares = jackknife.reduce((sum, value) => sum + (centre - value) ** 2, 0);
  const cubes = jackknife.reduce((sum, value) => sum + (centre - value) ** 3, 0);
  const acceleration = squares === 0 ? 0 : cubes / (6 * squares ** 1.5);
  const corrected = (p: number): number => {
    const shifted = bias + normalQuantile(p);
    return normalCdf(bias + shifted / (1 - acceleration * shifted));
  };
  return [corrected(tail), corrected(1 - tail)];
}

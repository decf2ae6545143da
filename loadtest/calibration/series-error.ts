import { assert } from '#kernel/core/assert.ts';
import { mean, standardDeviation } from '#loadtest/statistics/sample.ts';

/** How a series of bursts of one size came out. */
export interface SeriesError {
  /** Mean over nominal - 1. */
  readonly biasPct: number;
  /** Standard deviation over mean. */
  readonly cvPct: number;
}

/** For 1 ms: mean 1.002 is a bias of 0.2 %. Every burst counts, none is left out. */
export function seriesError(nominalMs: number, values: readonly number[]): SeriesError {
  assert(values.length > 1 && nominalMs > 0, 'a series has bursts and a size');
  const meanMs = mean(values);
  return { biasPct: biasPct(nominalMs, meanMs), cvPct: (standardDeviation(values) / meanMs) * 100 };
}

export const biasPct = (nominalMs: number, meanMs: number): number =>
  (meanMs / nominalMs - 1) * 100;

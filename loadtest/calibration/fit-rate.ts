import { assert } from '#kernel/core/assert.ts';
import { quantileOfSorted, sorted } from '#loadtest/statistics/quantile.ts';

/** Steps that were run in one go, and the CPU time they took. */
export interface Piece {
  readonly steps: number;
  readonly cpuMs: number;
}

export interface RateFit {
  readonly stepsPerMs: number;
  /** p90 over p10 of the pieces' rates. */
  readonly spread: number;
}

/**
 * The median rate: a preempted or slow piece does not move it. null where the clock did not move over
 * a tenth of the pieces or more, so that p90 is no number: it is too coarse for pieces this short.
 */
export function fitRate(pieces: readonly Piece[]): RateFit | null {
  assert(pieces.length > 0, 'a rate is fitted to pieces');
  const rates = sorted(pieces.map(({ steps, cpuMs }) => (cpuMs > 0 ? steps / cpuMs : Infinity)));
  const spread = quantileOfSorted(rates, 0.9) / quantileOfSorted(rates, 0.1);
  return Number.isFinite(spread) ? { stepsPerMs: quantileOfSorted(rates, 0.5), spread } : null;
}

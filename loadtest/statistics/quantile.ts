const ascending = (a: number, b: number): number => a - b;

export const sorted = (values: readonly number[]): readonly number[] => [...values].sort(ascending);

/**
 * The p-quantile of ascending values by linear interpolation: type 7 of R. J. Hyndman and Y. Fan,
 * "Sample Quantiles in Statistical Packages", 1996, which R and NumPy use by default. NaN of nothing.
 * Of 1 2 3 4 the 0.25-quantile lies at index 3 · 0.25 = 0.75: 1.75.
 *
 * Published tables of emulated demand use this one. Latencies of a run have quantiles by nearest rank
 * (`loadtest/results/quantiles.ts`): there each figure must be a latency that somebody had.
 */
export function quantileOfSorted(ascendingValues: readonly number[], p: number): number {
  const at = (ascendingValues.length - 1) * p;
  const low = ascendingValues[Math.floor(at)] ?? Number.NaN;
  const high = ascendingValues[Math.ceil(at)] ?? Number.NaN;
  return low + (high - low) * (at - Math.floor(at));
}

export const quantile = (values: readonly number[], p: number): number =>
  quantileOfSorted(sorted(values), p);

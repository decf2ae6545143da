/** Quantiles of a sample; null where the sample is too small to have one. */
export interface Quantiles {
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
  readonly max: number | null;
  readonly n: number;
}

/** Below so many values a quantile would be one of the extremes in disguise. */
const MIN_FOR_P95 = 20;
const MIN_FOR_P99 = 100;

/**
 * By nearest rank: the smallest value that at least p of the sample does not exceed. Of 20 values the
 * p95 is the 19th (20 * 0.95 = 19), of 100 the p99 is the 99th. p50 and max need one value.
 */
export function quantilesOf(values: readonly number[]): Quantiles {
  const sorted = [...values].sort((a, b) => a - b);
  const n = sorted.length;
  const at = (p: number, min: number): number | null => {
    if (n < min) return null;
    // 0.95 * 20 is 19 exactly, but 0.99 * 300 is 297.00000000000006: round before going up.
    const rank = Math.ceil(Math.round(p * n * 1e6) / 1e6);
    return round(sorted[Math.max(rank, 1) - 1] ?? 0);
  };
  return {
    p50: at(0.5, 1),
    p95: at(0.95, MIN_FOR_P95),
    p99: at(0.99, MIN_FOR_P99),
    max: at(1, 1),
    n,
  };
}

/** To the µs: more digits are noise. */
/** Adding 0 makes a -0, which JSON does not know, a 0. */
const round = (ms: number): number => Math.round(ms * 1000) / 1000 + 0;

import { normalCdf, studentQuantile } from './distributions.ts';

/** The smallest |r| of n pairs that is significant (two-sided); NaN below three pairs. */
export function criticalCorrelation(pairs: number, alpha: number): number {
  if (pairs < 3) return Number.NaN;
  const t = studentQuantile(1 - alpha / 2, pairs - 2);
  return t / Math.sqrt(pairs - 2 + t * t);
}

/**
 * The chance that n pairs show a true correlation as significant; NaN below four pairs.
 *
 * Source: R. A. Fisher's z with the correction for bias, critical value from Student's t, as in R's
 * `pwr.r.test`. Seven pairs show a true 0.5 with 22 %; 29 are needed for 80 %.
 */
export function correlationPower(pairs: number, correlation: number, alpha: number): number {
  if (pairs < 4) return Number.NaN;
  const bound = Math.atanh(criticalCorrelation(pairs, alpha));
  const centre = Math.atanh(correlation) + correlation / (2 * (pairs - 1));
  const scale = Math.sqrt(pairs - 3);
  return normalCdf((centre - bound) * scale) + normalCdf((-centre - bound) * scale);
}

/** The smallest true correlation that n pairs show with the given chance; NaN below four pairs. */
export function detectableCorrelation(pairs: number, power: number, alpha: number): number {
  if (pairs < 4) return Number.NaN;
  let [low, high] = [0, 1 - 1e-12];
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (correlationPower(pairs, middle, alpha) < power) low = middle;
    else high = middle;
  }
  return high;
}

/** Nobody measures on more nodes than this. */
export const MAX_PAIRS_NEEDED = 100_000;

/** How many pairs show a true correlation with the given chance; NaN when above 100,000. */
export function pairsNeeded(correlation: number, power: number, alpha: number): number {
  for (let pairs = 4; pairs <= MAX_PAIRS_NEEDED; pairs = Math.ceil(pairs * 1.01)) {
    if (correlationPower(pairs, correlation, alpha) >= power) {
      while (pairs > 4 && correlationPower(pairs - 1, correlation, alpha) >= power) pairs -= 1;
      return pairs;
    }
  }
  return Number.NaN;
}

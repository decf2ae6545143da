import { betaShare, gammaShares } from './special-functions.ts';

/** P(Z ≤ x) of the standard normal distribution. */
export function normalCdf(x: number): number {
  const { lower, upper } = gammaShares(0.5, (x * x) / 2);
  return x < 0 ? upper / 2 : 0.5 + lower / 2;
}

/** P(T ≤ x) of Student's t with `df` degrees of freedom. */
export function studentCdf(x: number, df: number): number {
  const tail = betaShare(df / 2, 0.5, df / (df + x * x)) / 2;
  return x < 0 ? tail : 1 - tail;
}

/** P(F ≤ x) of the F distribution with `df1` and `df2` degrees of freedom. */
export const fisherCdf = (x: number, df1: number, df2: number): number =>
  betaShare(df1 / 2, df2 / 2, (df1 * x) / (df1 * x + df2));

/** P(X ≤ x) of the chi-square distribution. */
export const chiSquareCdf = (x: number, df: number): number => gammaShares(df / 2, x / 2).lower;

export const normalQuantile = (p: number): number => invert(normalCdf, p, -40, 40);

export const studentQuantile = (p: number, df: number): number =>
  invert((x) => studentCdf(x, df), p, -1e6, 1e6);

export const fisherQuantile = (p: number, df1: number, df2: number): number =>
  invert((x) => fisherCdf(x, df1, df2), p, 0, 1e9);

export const chiSquareQuantile = (p: number, df: number): number =>
  invert((x) => chiSquareCdf(x, df), p, 0, df + 1_000 * Math.sqrt(2 * df));

/** Halvings of the widest range (1e9) down to the last bit of a double near 1: 30 + 53. */
const HALVINGS = 90;

/** Where a distribution function reaches p, by bisection in [from, until]. */
function invert(cdf: (x: number) => number, p: number, from: number, until: number): number {
  if (!(p >= 0 && p <= 1)) return Number.NaN;
  if (p === 0) return cdf(from) === 0 && from === 0 ? 0 : Number.NEGATIVE_INFINITY;
  if (p === 1) return Number.POSITIVE_INFINITY;
  let [low, high] = [from, until];
  for (let step = 0; step < HALVINGS; step++) {
    const middle = (low + high) / 2;
    if (cdf(middle) < p) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

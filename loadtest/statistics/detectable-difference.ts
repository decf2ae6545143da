import { chiSquareQuantile, fisherQuantile, studentQuantile } from './distributions.ts';

/**
 * The smallest mean shift of paired samples that is significant with the given chance, from the
 * standard deviation of the differences; NaN below two pairs.
 *
 * (t(1 − α/2) + t(power)) · sd / √n: an approximation of the non-central t distribution that is 2 %
 * too large at six pairs and closer with more.
 */
export function detectableShift(
  pairs: number,
  sd: number,
  { power, alpha }: { readonly power: number; readonly alpha: number },
): number {
  if (pairs < 2) return Number.NaN;
  const df = pairs - 1;
  const size = studentQuantile(1 - alpha / 2, df) + studentQuantile(power, df);
  return (size * sd) / Math.sqrt(pairs);
}

/** A design of equal groups: nodes with so many executions each. */
export interface EqualGroups {
  readonly groups: number;
  readonly perGroup: number;
}

/**
 * The smallest standard deviation between groups that the F test shows with the given chance, from the
 * standard deviation of what is measured within a group; NaN below two groups or two in a group.
 *
 * Exact for the random-effects model: mean square between over within is (1 + k σ²_g / σ²_w) · F.
 */
export function detectableGroupSd(
  { groups, perGroup }: EqualGroups,
  withinSd: number,
  { power, alpha }: { readonly power: number; readonly alpha: number },
): number {
  if (groups < 2 || perGroup < 2) return Number.NaN;
  const [df1, df2] = [groups - 1, groups * (perGroup - 1)];
  const ratio = fisherQuantile(1 - alpha, df1, df2) / fisherQuantile(1 - power, df1, df2);
  return withinSd * Math.sqrt((ratio - 1) / perGroup);
}

/**
 * Between which factors of an estimated standard deviation the true one lies, for normal values: of
 * five values 0.60 to 2.87. NaN below two values.
 */
export function sdRange(
  count: number,
  level: number,
): { readonly low: number; readonly high: number } {
  if (count < 2) return { low: Number.NaN, high: Number.NaN };
  const [df, tail] = [count - 1, (1 - level) / 2];
  return {
    low: Math.sqrt(df / chiSquareQuantile(1 - tail, df)),
    high: Math.sqrt(df / chiSquareQuantile(tail, df)),
  };
}

import { quantile } from './quantile.ts';

/** Arithmetic mean; NaN of nothing. */
export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** Sample variance (n − 1 in the denominator), in two passes; NaN below two values. */
export function variance(values: readonly number[]): number {
  if (values.length < 2) return Number.NaN;
  const centre = mean(values);
  return values.reduce((sum, value) => sum + (value - centre) ** 2, 0) / (values.length - 1);
}

export const standardDeviation = (values: readonly number[]): number => Math.sqrt(variance(values));

/** Standard deviation over the mean's size: 0.02 = 2 %. NaN below two values or at a mean of 0. */
export function coefficientOfVariation(values: readonly number[]): number {
  const centre = Math.abs(mean(values));
  return centre === 0 ? Number.NaN : standardDeviation(values) / centre;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** Median distance from the median, unscaled: a spread that a few preempted bursts cannot move. */
export function medianAbsoluteDeviation(values: readonly number[]): number {
  const centre = median(values);
  return median(values.map((value) => Math.abs(value - centre)));
}

import { mean } from './sample.ts';
import { quantileOfSorted, sorted } from './quantile.ts';

/** The numbers of one box. */
export interface BoxPlot {
  readonly n: number;
  readonly q1: number;
  readonly median: number;
  readonly q3: number;
  /** The outermost values within 1.5 interquartile ranges of the box. */
  readonly low: number;
  readonly high: number;
  readonly outliers: readonly number[];
  readonly mean: number;
  readonly p95: number;
}

/** Whiskers reach so many interquartile ranges (J. W. Tukey, 1977). */
const WHISKER = 1.5;

/** Quartiles of type 7; NaN of nothing. */
export function boxPlot(values: readonly number[]): BoxPlot {
  const ordered = sorted(values);
  const [q1, q3] = [quantileOfSorted(ordered, 0.25), quantileOfSorted(ordered, 0.75)];
  const reach = WHISKER * (q3 - q1);
  const inside = ordered.filter((value) => value >= q1 - reach && value <= q3 + reach);
  return {
    n: values.length,
    q1,
    median: quantileOfSorted(ordered, 0.5),
    q3,
    low: inside[0] ?? Number.NaN,
    high: inside.at(-1) ?? Number.NaN,
    outliers: ordered.filter((value) => value < q1 - reach || value > q3 + reach),
    mean: mean(values),
    p95: quantileOfSorted(ordered, 0.95),
  };
}

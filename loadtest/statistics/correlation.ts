import { mean } from './sample.ts';

/** Pearson's r; NaN below two pairs, or where one side is constant. */
export function pearson(xs: readonly number[], ys: readonly number[]): number {
  const [x, y] = [centred(xs), centred(ys)];
  const scale = Math.sqrt(dot(x, x) * dot(y, y));
  // Rounding may give 1.0000000000000002 for a perfect line.
  return scale === 0 ? Number.NaN : Math.max(-1, Math.min(1, dot(x, y) / scale));
}

/** Spearman's rank correlation: Pearson's r of the ranks, ties with their mean rank. */
export const spearman = (xs: readonly number[], ys: readonly number[]): number =>
  pearson(ranks(xs), ranks(ys));

/** Ranks from 1; equal values share the mean of theirs: 10 20 20 → 1 2.5 2.5. */
export function ranks(values: readonly number[]): readonly number[] {
  const order = values.map((value, index) => ({ value, index })).sort((a, b) => a.value - b.value);
  const result = Array.from({ length: values.length }, () => 0);
  for (let from = 0; from < order.length;) {
    let until = from + 1;
    while (order[until]?.value === order[from]?.value && until < order.length) until += 1;
    for (const { index } of order.slice(from, until)) result[index] = (from + 1 + until) / 2;
    from = until;
  }
  return result;
}

export function centred(values: readonly number[]): readonly number[] {
  const centre = mean(values);
  return values.map((value) => value - centre);
}

export const dot = (xs: readonly number[], ys: readonly number[]): number =>
  xs.reduce((sum, x, index) => sum + x * (ys[index] ?? Number.NaN), 0);

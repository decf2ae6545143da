export interface Sample {
  readonly time: number;
  readonly value: number;
}

/**
 * Min and max per pixel column, in the order in which they occur: what a screen can show, with every
 * spike kept. At most two points a column. `times` ascend; [from, until] is the span of the columns.
 */
export function downsample(
  times: ArrayLike<number>,
  values: ArrayLike<number>,
  span: { readonly from: number; readonly until: number },
  columns: number,
): readonly Sample[] {
  const width = (span.until - span.from) / columns;
  const samples: Sample[] = [];
  let column = -1;
  let lowest = -1;
  let highest = -1;
  const flush = (): void => {
    if (lowest === -1) return;
    const picked = lowest === highest ? [lowest] : [lowest, highest].sort((a, b) => a - b);
    for (const row of picked) samples.push({ time: times[row] ?? 0, value: values[row] ?? 0 });
  };
  for (let row = 0; row < times.length; row++) {
    const value = values[row] ?? Number.NaN;
    if (Number.isNaN(value)) continue;
    const at = width > 0 ? Math.floor(((times[row] ?? 0) - span.from) / width) : 0;
    const own = Math.min(columns - 1, Math.max(0, at));
    if (own !== column) {
      flush();
      column = own;
      lowest = row;
      highest = row;
    } else {
      if (value < (values[lowest] ?? 0)) lowest = row;
      if (value > (values[highest] ?? 0)) highest = row;
    }
  }
  flush();
  return samples;
}

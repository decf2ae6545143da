/**
 * Round steps for an axis: 1, 2 or 5 times a power of ten, about `count` of them.
 *
 * Source: P. Heckbert, "Nice Numbers for Graph Labels", Graphics Gems, 1990. 0 to 97 with 5 steps:
 * 97 / 5 = 19.4 → 20, ticks 0 20 40 60 80.
 */
export function niceStep(span: number, count: number): number {
  if (!(span > 0)) return 1;
  const raw = span / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const digit = raw / power;
  if (digit <= 1.5) return power;
  if (digit <= 3) return 2 * power;
  return digit <= 7 ? 5 * power : 10 * power;
}

/** Ticks inside [min, max], ascending; steps are multiplied, not added, so that they do not drift. */
export function ticks(min: number, max: number, count: number): readonly number[] {
  const step = niceStep(max - min, count);
  const first = Math.ceil(min / step - 1e-9);
  const last = Math.floor(max / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) =>
    Number(((first + index) * step).toPrecision(12)),
  );
}

export interface Scale {
  readonly min: number;
  readonly max: number;
  readonly at: (value: number) => number;
}

/** Maps [min, max] to [from, to], linearly; a span of 0 is widened so that it has a middle. */
export function linearScale(min: number, max: number, from: number, to: number): Scale {
  const [low, high] = max > min ? [min, max] : [min - 0.5, max + 0.5];
  return {
    min: low,
    max: high,
    at: (value) => from + ((value - low) / (high - low)) * (to - from),
  };
}

/** A coordinate with one decimal: more is invisible and makes the file large. */
export const px = (value: number): string => {
  const text = value.toFixed(1);
  return text.endsWith('.0') ? text.slice(0, -2) : text;
};

import { TachographError } from '#kernel/core/errors.ts';

const UNITS_MS = { ms: 1, s: 1_000, min: 60_000, h: 3_600_000 } as const;

/** The value of an option such as `30s`, `1.5min`, `500ms`, in ms; CONFIG_INVALID outside the range. */
export function durationOption(
  name: string,
  text: string,
  { minMs, maxMs }: { readonly minMs: number; readonly maxMs: number },
): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|min|h)$/.exec(text);
  const ms = Number(match?.[1]) * UNITS_MS[(match?.[2] ?? 'ms') as keyof typeof UNITS_MS];
  if (ms >= minMs && ms <= maxMs) return ms;
  const remedy = `use ${minMs / 1_000}s to ${maxMs / 3_600_000}h, such as 500ms, 30s, 5min`;
  throw new TachographError('CONFIG_INVALID', { name: `--${name}`, value: text, remedy });
}

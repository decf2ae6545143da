import type { Labels } from './model.ts';

/** The key of a value in Labels: a bigint for an integer that is not safe, a number for all others. */
export function labelKey(value: number | bigint): number | bigint {
  if (typeof value === 'number') {
    return Number.isInteger(value) && !Number.isSafeInteger(value) ? BigInt(value) : value;
  }
  // 2n ** 53n and all beyond it round to doubles that are not safe either.
  const rounded = Number(value);
  return Number.isSafeInteger(rounded) ? rounded : value;
}

/** The text of a raw value, compared exactly: 9007199254740993 is not 9007199254740992. */
export const labelOf = (labels: Labels, raw: number | bigint): string | undefined =>
  labels.get(labelKey(raw));

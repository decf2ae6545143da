import { TachographError } from '#kernel/core/errors.ts';

/** Random streams take 32 bits. */
export const MAX_SEED = 4_294_967_295;

export interface NumberRange {
  readonly min: number;
  readonly max: number;
  readonly integer: boolean;
}

/** The value of an option that is a number, or its default; CONFIG_INVALID outside the range. */
export function numberOption(
  name: string,
  text: string | undefined,
  fallback: number,
  { min, max, integer }: NumberRange,
): number {
  if (text === undefined) return fallback;
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max && (!integer || Number.isInteger(value))) return value;
  const remedy = `use ${integer ? 'an integer' : 'a number'} from ${min} to ${max}`;
  throw new TachographError('CONFIG_INVALID', { name: `--${name}`, value: text, remedy });
}

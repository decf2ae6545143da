import { TachographError } from '../core/errors.ts';

/** An integer of the path, the query or a body; FIELD_INVALID outside [min, max]. */
export function integerField(
  field: string,
  value: unknown,
  fallback: number | undefined,
  [min, max]: readonly [min: number, max: number],
): number {
  if (value === undefined && fallback !== undefined) return fallback;
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  if (typeof number === 'number' && Number.isInteger(number) && number >= min && number <= max) {
    return number;
  }
  const allowed = `a whole number from ${min} to ${max}`;
  throw new TachographError('FIELD_INVALID', { field, value: String(value), allowed });
}

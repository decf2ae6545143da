import { TachographError } from '../core/errors.ts';
import { isNamePart } from '../core/ids.ts';

/**
 * An object of a decoded body and where it stands in it: `groups[3]`, or '' for the body itself.
 */
export interface ObjectAt {
  readonly path: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Every reader throws FIELD_INVALID with the field's path, the value found and what is allowed. */
export function invalidField(field: string, value: unknown, allowed: string): TachographError {
  return new TachographError('FIELD_INVALID', { field, value: describe(value), allowed });
}

/** Short, whatever the value is: 3, "abc", missing, an array of 7. */
function describe(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null || typeof value === 'number' || typeof value === 'boolean') {
    return String(value);
  }
  if (typeof value === 'string') {
    return value.length > 100 ? `a text of ${value.length} characters` : JSON.stringify(value);
  }
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  if (Array.isArray(value)) return `an array of ${value.length}`;
  return 'an object';
}

export const pathOf = (at: ObjectAt, name: string): string =>
  at.path === '' ? name : `${at.path}.${name}`;

/** An object with no fields but the known ones. */
export function objectAt(value: unknown, path: string, known: readonly string[]): ObjectAt {
  if (!isRecord(value)) {
    throw invalidField(path === '' ? 'body' : path, value, `an object of ${known.join(', ')}`);
  }
  const at = { path, fields: value };
  for (const name of Object.keys(value)) {
    if (!known.includes(name)) {
      // A long or hostile name is shown as a value is, not as a path.
      const field = isNamePart(name) ? pathOf(at, name) : `${pathOf(at, '')}${describe(name)}`;
      throw invalidField(field, value[name], `left out: known here are ${known.join(', ')}`);
    }
  }
  return at;
}

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof Uint8Array);

export function integerField(at: ObjectAt, name: string, min: number, max: number): number {
  return integerAt(at.fields[name], pathOf(at, name), min, max);
}

export function integerAt(value: unknown, path: string, min: number, max: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) {
    return value;
  }
  throw invalidField(path, value, `an integer from ${min} to ${max}`);
}

export function nameField(at: ObjectAt, name: string): string {
  const value = at.fields[name];
  if (isNamePart(value)) return value;
  const allowed = 'a name: 1 to 64 of letters, digits, ".", "_", "~" and "-"';
  throw invalidField(pathOf(at, name), value, allowed);
}

export function booleanField(at: ObjectAt, name: string): boolean {
  const value = at.fields[name];
  if (typeof value === 'boolean') return value;
  throw invalidField(pathOf(at, name), value, 'true or false');
}

export function choiceField<T extends string>(
  at: ObjectAt,
  name: string,
  choices: readonly T[],
): T {
  const value = at.fields[name];
  const choice = choices.find((candidate) => candidate === value);
  if (choice !== undefined) return choice;
  throw invalidField(pathOf(at, name), value, `one of ${choices.join(', ')}`);
}

export function arrayField(
  at: ObjectAt,
  name: string,
  min: number,
  max: number,
): readonly unknown[] {
  const value = at.fields[name];
  if (Array.isArray(value) && value.length >= min && value.length <= max) return value;
  throw invalidField(pathOf(at, name), value, `an array of ${min} to ${max} entries`);
}

export function textField(at: ObjectAt, name: string, pattern: RegExp, allowed: string): string {
  const value = at.fields[name];
  if (typeof value === 'string' && pattern.test(value)) return value;
  throw invalidField(pathOf(at, name), value, allowed);
}

/** Stops the program when something that must hold does not: a bug, never an expected outcome. */
export function assert(condition: boolean, action: string): asserts condition {
  if (!condition) throw new Error(`Assertion failed: ${action}`);
}

/** The value, or a bug report: for look-ups that cannot miss (an index just checked, a key just set). */
export function must<T>(value: T | null | undefined, action: string): T {
  if (value === null || value === undefined) throw new Error(`Missing value: ${action}`);
  return value;
}

/** Marks a branch that the types rule out. */
export function unreachable(value: never): never {
  throw new Error(`Unreachable case: ${JSON.stringify(value)}`);
}

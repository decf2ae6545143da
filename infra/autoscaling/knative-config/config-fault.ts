import { nearestNames } from '#kernel/core/nearest-names.ts';

/** What is wrong with one key of a ConfigMap or of a revision's annotations. */
export interface ConfigFault {
  /** As it is written in the input, where the input has it. */
  readonly key: string;
  /** A whole sentence that names the key: only file and line are missing. */
  readonly message: string;
}

/** A value, or everything that is wrong with the input at once. */
export type Parsed<T> =
  | { readonly value: T; readonly faults: readonly [] }
  | { readonly value: undefined; readonly faults: readonly ConfigFault[] };

/** The value only when nothing is wrong. */
export function parsed<T>(faults: readonly ConfigFault[], value: () => T): Parsed<T> {
  return faults.length === 0 ? { value: value(), faults: [] } : { value: undefined, faults };
}

/**
 * Keys that nothing acts on. Knative ignores them, and a misspelt setting with them; here they are
 * faults, with the known key that was most likely meant.
 */
export function unknownKeys(
  keys: readonly string[],
  known: readonly string[],
): readonly ConfigFault[] {
  return keys.flatMap((key) => {
    if (known.includes(key)) return [];
    const [nearest] = nearestNames(key, known, 1);
    const hint = nearest === undefined ? '' : `; did you mean ${nearest}?`;
    return [{ key, message: `${key} is not a known key${hint}` }];
  });
}

/** A fault in a manifest's plain value: where below its root, and what is wrong. */
export interface FieldFault {
  readonly path: readonly string[];
  readonly message: string;
}

export type FieldsRead<T> =
  | { readonly value: T; readonly faults: readonly [] }
  | { readonly value: undefined; readonly faults: readonly FieldFault[] };

const MAX_DURATION_MS = 3_600_000;

/** Reads fields of a plain value and collects what is wrong with them, so that all is told at once. */
export class FieldReader {
  readonly faults: FieldFault[] = [];

  fault(path: readonly string[], message: string): void {
    this.faults.push({ path, message });
  }

  /** The value under a path; undefined where it is missing. */
  static at(root: unknown, path: readonly string[]): unknown {
    let value = root;
    for (const name of path) {
      if (typeof value !== 'object' || value === null) return undefined;
      const own = Array.isArray(value) ? /^\d+$/.test(name) : Object.hasOwn(value, name);
      if (!own) return undefined;
      value = (value as Readonly<Record<string, unknown>>)[name];
    }
    return value;
  }

  /** A number in a range; `fallback` where it is missing, which may be required by giving none. */
  number(
    root: unknown,
    path: readonly string[],
    range: {
      readonly min: number;
      readonly max: number;
      readonly integer?: boolean;
      readonly fallback?: number;
      /** Text is taken too (a Kubernetes quantity), or alone: annotations and KEDA's metadata are text. */
      readonly text?: 'too' | 'alone';
    },
  ): number {
    const found = FieldReader.at(root, path);
    const name = path.at(-1) ?? '';
    if (found === undefined) {
      if (range.fallback === undefined) this.fault(path.slice(0, -1), `${name} is missing`);
      return range.fallback ?? range.min;
    }
    const text = typeof found === 'string' && /^-?\d+(\.\d+)?$/.test(found);
    const value = range.text !== undefined && text ? Number(found) : found;
    if (range.text === 'alone' && typeof found === 'number') {
      this.fault(path, `${name} is ${found}; it must be text: put it in quotes`);
      return range.fallback ?? range.min;
    }
    const valid =
      typeof value === 'number' &&
      value >= range.min &&
      value <= range.max &&
      (range.integer !== true || Number.isInteger(value));
    if (valid) return value;
    const kind = range.integer === true ? 'an integer' : 'a number';
    const shown = JSON.stringify(found);
    this.fault(path, `${name} is ${shown}; it must be ${kind} from ${range.min} to ${range.max}`);
    return range.fallback ?? range.min;
  }

  /** One of some words. */
  oneOf<Word extends string>(
    root: unknown,
    path: readonly string[],
    words: readonly Word[],
    fallback?: Word,
  ): Word {
    const found = FieldReader.at(root, path);
    const name = path.at(-1) ?? '';
    const [first] = words;
    if (found === undefined && fallback !== undefined) return fallback;
    const word = words.find((known) => known === found);
    if (word !== undefined) return word;
    const shown = found === undefined ? 'missing' : JSON.stringify(found);
    this.fault(path, `${name} is ${shown}; use ${words.join(', ')}`);
    return fallback ?? (first as Word);
  }

  /** A duration such as `15s`, `500ms`, `2m`, in ms; at most an hour, at least `minMs`. */
  duration(root: unknown, path: readonly string[], fallbackMs: number, minMs = 1): number {
    const found = FieldReader.at(root, path);
    if (found === undefined) return fallbackMs;
    const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(typeof found === 'string' ? found : '');
    const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;
    const ms = Number(match?.[1]) * units[(match?.[2] ?? 'ms') as keyof typeof units];
    if (ms >= minMs && ms <= MAX_DURATION_MS) return ms;
    const name = path.at(-1) ?? '';
    const shown = JSON.stringify(found);
    this.fault(path, `${name} is ${shown}; use a duration from ${minMs}ms to 1h, such as 15s`);
    return fallbackMs;
  }

  result<T>(value: T): FieldsRead<T> {
    return this.faults.length === 0
      ? { value, faults: [] }
      : { value: undefined, faults: this.faults };
  }
}

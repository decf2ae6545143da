/**
 * Values as Go's standard library reads and prints them: Knative's settings are texts, and its messages
 * show values in this notation. Not taken over: infinities, NaN and hexadecimal fractions, which
 * strconv.ParseFloat reads and no setting can mean.
 */
export type GoValue<T> = { readonly value: T } | { readonly fault: string };

export const MAX_INT32 = 2_147_483_647;

/** strconv.ParseInt(text, 10, 32): `+5`, `-0`, `007`. */
export function readInt32(text: string): GoValue<number> {
  if (!/^[+-]?\d+$/.test(text)) return syntaxFault('ParseInt', text);
  const value = Number(text);
  if (value > MAX_INT32 || value < -MAX_INT32 - 1) {
    return { fault: `strconv.ParseInt: parsing ${quoted(text)}: value out of range` };
  }
  // + 0: not −0, which prints and compares otherwise.
  return { value: value + 0 };
}

/** strconv.ParseFloat(text, 64), finite numbers only: `1`, `.5`, `5.`, `1e3`. */
export function readFloat(text: string): GoValue<number> {
  if (!/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text)) return syntaxFault('ParseFloat', text);
  const value = Number(text);
  if (!Number.isFinite(value)) {
    return { fault: `strconv.ParseFloat: parsing ${quoted(text)}: value out of range` };
  }
  return { value: value + 0 };
}

const TRUE = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);
const FALSE = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False']);

/** strconv.ParseBool(text). */
export function readBool(text: string): GoValue<boolean> {
  if (TRUE.has(text)) return { value: true };
  if (FALSE.has(text)) return { value: false };
  return syntaxFault('ParseBool', text);
}

const UNITS_NS: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  // Both signs for micro: U+00B5 and U+03BC.
  µs: 1e3,
  μs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3_600e9,
};

/** Go keeps durations in 63 bits of nanoseconds: 292 years; beyond it a text is no duration. */
const MAX_DURATION_NS = 2 ** 63;

/** time.ParseDuration(text) in ms: `1h30m`, `-1m23s`, `42.5s`, `0`. A bare number has no unit. */
export function readDurationMs(text: string): GoValue<number> {
  const invalid = { fault: `time: invalid duration ${quoted(text)}` };
  const unsigned = /^[+-]/.test(text) ? text.slice(1) : text;
  if (unsigned === '0') return { value: 0 };
  if (unsigned === '') return invalid;
  let rest = unsigned;
  let ns = 0;
  while (rest !== '') {
    const [amount] = /^(\d+\.?\d*|\.\d+)/.exec(rest) ?? [];
    if (amount === undefined) return invalid;
    rest = rest.slice(amount.length);
    const [unit] = /^[^\d.]*/.exec(rest) ?? [''];
    rest = rest.slice(unit.length);
    if (unit === '') return { fault: `time: missing unit in duration ${quoted(text)}` };
    const unitNs = Object.hasOwn(UNITS_NS, unit) ? UNITS_NS[unit] : undefined;
    if (unitNs === undefined) {
      return { fault: `time: unknown unit ${quoted(unit)} in duration ${quoted(text)}` };
    }
    ns += Number(amount) * unitNs;
  }
  if (ns >= MAX_DURATION_NS) return invalid;
  const ms = Math.round(ns) / 1e6;
  return { value: (text.startsWith('-') ? -ms : ms) + 0 };
}

/** A duration as Go's `%v` prints it: 6,000 is `6s`, 3,601,000 `1h0m1s`, 61,984 `1m1.984s`, 0.5 `500µs`. */
export function durationText(ms: number): string {
  const ns = Math.round(Math.abs(ms) * 1e6);
  if (ns === 0) return '0s';
  const sign = ms < 0 ? '-' : '';
  if (ns < 1e3) return `${sign}${ns}ns`;
  if (ns < 1e6) return `${sign}${ns / 1e3}µs`;
  if (ns < 1e9) return `${sign}${ns / 1e6}ms`;
  const hours = Math.floor(ns / 3_600e9);
  const minutes = Math.floor((ns % 3_600e9) / 60e9);
  // Nine digits, for a bare number would print a small fraction with an exponent.
  const seconds = ((ns % 60e9) / 1e9).toFixed(9).replace(/\.?0+$/, '');
  const large = hours > 0 ? `${hours}h${minutes}m` : minutes > 0 ? `${minutes}m` : '';
  return `${sign}${large}${seconds}s`;
}

/** Whether a duration has no fraction of a second. */
export const isWholeSeconds = (ms: number): boolean => ms % 1_000 === 0;

const quoted = (text: string): string => JSON.stringify(text);

const syntaxFault = (by: string, text: string): { readonly fault: string } => ({
  fault: `strconv.${by}: parsing ${quoted(text)}: invalid syntax`,
});

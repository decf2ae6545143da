import { assert, must } from '#kernel/core/assert.ts';
import type { RawValues, SignalColumn } from '#kernel/columns/columns.ts';

import type { Extraction } from './bit-extractor.ts';
import { extractBigint, extractNumber, isWide, planExtraction } from './bit-extractor.ts';
import type { Database, Message, Signal } from './model.ts';

/** Bits of decodeRow's answer. */
export const TRUNCATED = 1;
export const LONGER = 2;
export const UNKNOWN_SELECTOR = 4;

export interface MessageDecoder {
  readonly message: Message;
  /**
   * Decodes one frame into row `row` of `columns`, which are newColumns of the same message.
   *
   * Signals that lie within `length` bytes from `start` are decoded; the others, and those on a page
   * that is not selected, are absent. Returns a set of bits: TRUNCATED (fewer bytes than the message
   * has), LONGER (more), UNKNOWN_SELECTOR (a selector holds a value that no signal belongs to).
   */
  readonly decodeRow: (
    payload: Uint8Array,
    start: number,
    length: number,
    columns: readonly SignalColumn[],
    row: number,
  ) => number;
}

export interface DatabaseDecoder {
  /** The id without a flag bit. */
  readonly find: (id: number, extended: boolean) => MessageDecoder | undefined;
}

/** Pairs of first and last value, flat. */
type Ranges = Float64Array;

interface Step extends Extraction {
  readonly column: number;
  /** Column of the selector, which an earlier step fills; -1: always present. */
  readonly selector: number;
  readonly ranges: Ranges;
  /** For a selector: the values that have a page. Empty when no signal depends on it. */
  readonly pages: Ranges;
}

function isWithin(value: number, ranges: Ranges): boolean {
  for (let index = 0; index < ranges.length; index += 2) {
    if (value >= (ranges[index] as number) && value <= (ranges[index + 1] as number)) return true;
  }
  return false;
}

/** Sorted and merged: [5,7], [1,3], [6,9] become [1,3], [5,9]. */
function mergeRanges(ranges: Iterable<readonly [number, number]>): Ranges {
  const merged: [number, number][] = [];
  for (const [first, last] of [...ranges].toSorted((a, b) => a[0] - b[0])) {
    const open = merged.at(-1);
    if (open !== undefined && first <= open[1] + 1) open[1] = Math.max(open[1], last);
    else merged.push([first, last]);
  }
  return Float64Array.from(merged.flat());
}

function planSteps({ name, byteLength, signals }: Message): Step[] {
  const columnOf = new Map(signals.map((signal, column) => [signal.name, column]));
  const dependents = Map.groupBy(signals, (signal) => signal.multiplex?.selector);
  // Each selector comes before what depends on it: the list grows while it is walked.
  const ordered = [...(dependents.get(undefined) ?? [])];
  for (const signal of ordered) ordered.push(...(dependents.get(signal.name) ?? []));
  assert(ordered.length === signals.length, `reach every signal of "${name}" from its selectors`);
  return ordered.map((signal) => {
    const extraction = planExtraction(signal);
    assert(extraction.endByte <= byteLength, `keep "${signal.name}" inside "${name}"`);
    const pages = dependents.get(signal.name)?.flatMap(({ multiplex }) => multiplex?.ranges ?? []);
    return {
      ...extraction,
      column: must(columnOf.get(signal.name), 'column of a signal'),
      selector: columnOf.get(signal.multiplex?.selector ?? '') ?? -1,
      ranges: mergeRanges(signal.multiplex?.ranges ?? []),
      pages: mergeRanges(pages ?? []),
    };
  });
}

/** Lengths above 8 that a CAN FD frame can have; a shorter payload is padded to the next one. */
const FD_LENGTHS = [12, 16, 20, 24, 32, 48, 64] as const;

/** The longest frame that is no longer than its message: 10 bytes travel in a CAN FD frame of 12. */
function longestFrame({ byteLength, isFd }: Message): number {
  if (!isFd || byteLength <= 8) return byteLength;
  return FD_LENGTHS.find((length) => length >= byteLength) ?? byteLength;
}

function isPresent(step: Step, columns: readonly SignalColumn[], row: number): boolean {
  if (step.selector < 0) return true;
  const selector = columns[step.selector] as SignalColumn;
  // Selectors have at most 53 bits, so their column holds numbers.
  return selector.present[row] === 1 && isWithin(selector.values[row] as number, step.ranges);
}

/**
 * Compiles a message into a list of steps, one a signal, with positions, masks and selectors worked
 * out. All steps have one shape and one loop runs them, which is what makes it fast: there is no
 * closure a signal, and no generated code.
 */
export function compileMessage(message: Message): MessageDecoder {
  const steps = planSteps(message);
  const { byteLength } = message;
  const longest = longestFrame(message);
  const decodeRow: MessageDecoder['decodeRow'] = (payload, start, length, columns, row) => {
    let flags = length < byteLength ? TRUNCATED : length > longest ? LONGER : 0;
    for (let index = 0; index < steps.length; index++) {
      const step = steps[index] as Step;
      const column = columns[step.column] as SignalColumn;
      const present = step.endByte <= length && isPresent(step, columns, row);
      column.present[row] = present ? 1 : 0;
      if (step.kind === 'wide') {
        const values = column.values as BigInt64Array;
        values[row] = present ? extractBigint(payload, start, step) : 0n;
        continue;
      }
      const raw = present ? extractNumber(payload, start, step) : 0;
      (column.values as Float64Array)[row] = raw;
      if (step.pages.length > 0 && present && !isWithin(raw, step.pages)) flags |= UNKNOWN_SELECTOR;
    }
    return flags;
  };
  return { message, decodeRow };
}

/** A decoder for each message of the database, found by the id of a frame. */
export function compileDatabase(database: Database): DatabaseDecoder {
  const standard = new Map<number, MessageDecoder>();
  const extended = new Map<number, MessageDecoder>();
  for (const message of database.messages) {
    (message.extended ? extended : standard).set(message.id, compileMessage(message));
  }
  return { find: (id, isExtended) => (isExtended ? extended : standard).get(id) };
}

function newValues(signal: Signal, rows: number): RawValues {
  if (!isWide(signal)) return new Float64Array(rows);
  return signal.valueType === 'signed' ? new BigInt64Array(rows) : new BigUint64Array(rows);
}

/** Empty columns for `rows` frames of a message, in the order of its signals. */
export function newColumns(message: Message, rows: number): SignalColumn[] {
  return message.signals.map((signal) => ({
    signal,
    values: newValues(signal, rows),
    present: new Uint8Array(rows),
  }));
}

/** raw * factor + offset in doubles; min and max do not clamp. */
export function physicalValue(signal: Signal, raw: number | bigint): number {
  return Number(raw) * signal.factor + signal.offset;
}

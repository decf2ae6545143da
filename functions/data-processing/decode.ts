import { must } from '#kernel/core/assert.ts';
import { TachographError } from '#kernel/core/errors.ts';
import { MAX_CELLS } from '#kernel/columns/block-format.ts';
import type { MessageTable, SignalColumn } from '#kernel/columns/columns.ts';
import {
  LONGER,
  type MessageDecoder,
  newColumns,
  TRUNCATED,
  UNKNOWN_SELECTOR,
} from '#kernel/dbc/message-decoder.ts';
import type { FrameAccount, IdCount } from '#kernel/facts/facts.ts';
import { type FrameSeries, gatherFrames } from './gather-frames.ts';
import type { WindowInput } from './window-input.ts';

export interface DecodedTable {
  /** The window's own rows and, before them, those read back for resampling. */
  readonly table: MessageTable;
  /** First own row. */
  readonly ownFrom: number;
}

export interface DecodedWindow {
  readonly tables: readonly DecodedTable[];
  readonly frames: FrameAccount;
  readonly unsortedFrames: number;
  readonly duplicateFrames: number;
}

/** Ids listed in an account; beyond, the ones with the most frames. The totals always count all. */
export const MAX_LISTED_IDS = 1_000;

/**
 * Frames to columns. Every own frame is counted once: as decoded, of an unknown id (also on a bus without
 * a DBC), or without data. Of a message that the campaign lists no signal of, frames are counted and not
 * kept. Throws BLOCK_TOO_LARGE when the columns would not fit a block.
 */
export function decode(input: WindowInput): DecodedWindow {
  const gathered = gatherFrames(input);
  const wanted = listedSignals(input.signals);
  const count = new Counter();
  const tables: DecodedTable[] = [];
  let cells = 0;
  for (const series of gathered.series) {
    const decoder = input.decoders.get(series.bus)?.find(series.id, series.extended);
    if (decoder === undefined) {
      count.unknown(series);
      continue;
    }
    const { signals, name } = decoder.message;
    const isListed = (signal: string): boolean =>
      wanted === undefined || wanted.has(signalKey(series.bus, `${name}.${signal}`));
    if (wanted !== undefined && !signals.some((signal) => isListed(signal.name))) {
      decodeInto(newColumns(decoder.message, 1), decoder, series, count, () => 0);
      continue;
    }
    cells += series.timeUs.length * (signals.length + 1);
    if (cells > MAX_CELLS) {
      throw new TachographError('BLOCK_TOO_LARGE', { what: 'cells', value: cells, max: MAX_CELLS });
    }
    const all = newColumns(decoder.message, series.timeUs.length);
    decodeInto(all, decoder, series, count, (row) => row);
    const columns = all.filter((column) => isListed(column.signal.name));
    const { bus, timeUs, ownFrom } = series;
    tables.push({ table: { bus, message: decoder.message, timeUs, columns }, ownFrom });
  }
  return {
    tables,
    frames: count.account(gathered.noData),
    unsortedFrames: gathered.unsorted,
    duplicateFrames: gathered.series.reduce((sum, series) => sum + series.duplicates, 0),
  };
}

/** The window's own rows of a table, as a view. */
export function ownRows({ table, ownFrom }: DecodedTable): MessageTable {
  return {
    ...table,
    timeUs: table.timeUs.subarray(ownFrom),
    columns: table.columns.map((column) => ({
      ...column,
      values: column.values.subarray(ownFrom),
      present: column.present.subarray(ownFrom),
    })),
  };
}

const signalKey = (bus: string, name: string): string => JSON.stringify([bus, name]);

/** Undefined: every signal. */
function listedSignals(signals: WindowInput['signals']): ReadonlySet<string> | undefined {
  if (signals.length === 0) return undefined;
  return new Set(signals.map((signal) => signalKey(signal.bus, signal.name)));
}

function decodeInto(
  columns: readonly SignalColumn[],
  decoder: MessageDecoder,
  series: FrameSeries,
  count: Counter,
  rowOf: (index: number) => number,
): void {
  const { payloads, starts, lengths, ownFrom } = series;
  for (let index = 0; index < payloads.length; index++) {
    const flags = decoder.decodeRow(
      must(payloads[index], 'payload of a frame'),
      must(starts[index], 'start of a frame'),
      must(lengths[index], 'length of a frame'),
      columns,
      rowOf(index),
    );
    if (flags !== 0 && index >= ownFrom) count.flagged(series, flags);
  }
  count.decoded(series);
}

/** The frame account while it is being counted; own frames only. */
class Counter {
  #decoded = 0;
  #unknownId = 0;
  #truncated = 0;
  #longer = 0;
  #unknownSelector = 0;
  readonly #unknownIds: IdCount[] = [];
  readonly #unknownSelectors = new Map<FrameSeries, number>();

  decoded(series: FrameSeries): void {
    this.#decoded += ownFrames(series);
  }

  unknown(series: FrameSeries): void {
    const frames = ownFrames(series);
    this.#unknownId += frames;
    if (frames > 0) this.#unknownIds.push(idCount(series, frames));
  }

  flagged(series: FrameSeries, flags: number): void {
    if ((flags & TRUNCATED) !== 0) this.#truncated += 1;
    if ((flags & LONGER) !== 0) this.#longer += 1;
    if ((flags & UNKNOWN_SELECTOR) === 0) return;
    this.#unknownSelector += 1;
    this.#unknownSelectors.set(series, (this.#unknownSelectors.get(series) ?? 0) + 1);
  }

  account(noData: number): FrameAccount {
    const selectors = Array.from(this.#unknownSelectors, ([series, frames]) =>
      idCount(series, frames),
    );
    return {
      recorded: this.#decoded + this.#unknownId + noData,
      decoded: this.#decoded,
      unknownId: this.#unknownId,
      noData,
      truncated: this.#truncated,
      unknownSelector: this.#unknownSelector,
      longer: this.#longer,
      unknownIds: mostFrequent(this.#unknownIds),
      unknownSelectors: mostFrequent(selectors),
    };
  }
}

const ownFrames = (series: FrameSeries): number => series.timeUs.length - series.ownFrom;

const idCount = ({ bus, id, extended }: FrameSeries, frames: number): IdCount => ({
  bus,
  id,
  extended,
  frames,
});

/** At most MAX_LISTED_IDS, in the order they came (bus, then id); the sort is stable. */
function mostFrequent(counts: readonly IdCount[]): readonly IdCount[] {
  if (counts.length <= MAX_LISTED_IDS) return counts;
  const kept = new Set(counts.toSorted((a, b) => b.frames - a.frames).slice(0, MAX_LISTED_IDS));
  return counts.filter((entry) => kept.has(entry));
}

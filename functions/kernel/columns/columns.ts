/** Decoded data in columns: one table a message, one shared time column, one column a signal. */

import type { Message, Signal } from '#kernel/dbc/model.ts';

/** Raw values: integers up to 53 bits and floats as doubles, wider integers as 64-bit integers. */
export type RawValues = Float64Array | BigInt64Array | BigUint64Array;

export interface SignalColumn {
  readonly signal: Signal;
  /** One raw value a row; 0 where absent. Physical = raw * factor + offset. */
  readonly values: RawValues;
  /** 1 where the signal is present in the row's frame (not truncated, selector matches), else 0. */
  readonly present: Uint8Array;
}

export interface MessageTable {
  readonly bus: string;
  readonly message: Message;
  /** Monotonic µs since the session's start, ascending; rows with equal times keep their recorded order. */
  readonly timeUs: Float64Array;
  readonly columns: readonly SignalColumn[];
}

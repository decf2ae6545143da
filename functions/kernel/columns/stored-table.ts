import type { ValueType } from '#kernel/dbc/model.ts';
import type { RawValues } from './columns.ts';

/**
 * A decoded table as it comes back out of a stored block (`decodeTables`): enough to write files without
 * the DBC. Value labels are not in it; they come from the DBC that the result names by hash.
 */
export interface StoredTable {
  readonly bus: string;
  readonly message: StoredMessage;
  /** Monotonic µs since the session's start, ascending; rows with equal times keep their order. */
  readonly timeUs: Float64Array;
  readonly columns: readonly StoredColumn[];
}

interface StoredMessage {
  readonly name: string;
  /** 11 or 29 bits, without the flag bit. */
  readonly id: number;
  readonly extended: boolean;
}

export interface StoredColumn {
  readonly name: string;
  readonly unit: string;
  /** Physical = raw * factor + offset. A linear raster column is physical already: 1 and 0. */
  readonly factor: number;
  readonly offset: number;
  /** Type of the raw values; `float64` for a linear raster column. */
  readonly valueType: ValueType;
  /** 1 to 64: how many bits a raw value has. */
  readonly bitLength: number;
  /** One raw value a row, 0 where absent. 64-bit arrays only for integers of more than 53 bits. */
  readonly values: RawValues;
  /** 1 where the row has a value, else 0. */
  readonly present: Uint8Array;
}

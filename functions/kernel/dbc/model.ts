/** A CAN database as the decoder uses it. Terms are DBC's. */

export type ByteOrder = 'intel' | 'motorola';
export type ValueType = 'unsigned' | 'signed' | 'float32' | 'float64';

/** When a multiplexed signal is present: its selector holds a value in one of the (inclusive) ranges. */
export interface MultiplexCondition {
  /** Name of the selector signal, which may itself be multiplexed (cascade). */
  readonly selector: string;
  readonly ranges: readonly (readonly [first: number, last: number])[];
}

export interface Signal {
  /** The long name where the file gives one (SystemSignalLongSymbol). */
  readonly name: string;
  /** Bit number as DBC counts: 8 * byte + bit, 0 = least significant bit of byte 0. Motorola: the MSB. */
  readonly startBit: number;
  readonly bitLength: number;
  readonly byteOrder: ByteOrder;
  readonly valueType: ValueType;
  readonly factor: number;
  readonly offset: number;
  /** Informative; never used to clamp. Doubles: those of a wide signal are the nearest ones to the file's. */
  readonly min: number;
  readonly max: number;
  readonly unit: string;
  readonly comment: string;
  readonly isSelector: boolean;
  readonly multiplex: MultiplexCondition | undefined;
  readonly labels: Labels;
}

/**
 * Value table: raw value → text. Every value exactly as the file states it: a number, and a bigint just
 * where that is an integer beyond ±(2^53 - 1). Look a raw value up with labelOf (labels.ts), which keys
 * it by the same rule: 3 and 3n are one value, and so are 2 ** 60 of a float and 2n ** 60n.
 */
export type Labels = ReadonlyMap<number | bigint, string>;

export interface Message {
  readonly name: string;
  /** 11 or 29 bits, without the flag bit. */
  readonly id: number;
  readonly extended: boolean;
  readonly byteLength: number;
  readonly isFd: boolean;
  readonly transmitter: string;
  readonly comment: string;
  /** GenMsgCycleTime in ms; undefined when the file gives none or 0. */
  readonly cycleMs: number | undefined;
  readonly signals: readonly Signal[];
}

export interface DbcFault {
  /** 1-based. */
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

export interface Database {
  readonly version: string;
  readonly messages: readonly Message[];
  /** Everything that could not be used, with its line; the rest of the file is kept. */
  readonly faults: readonly DbcFault[];
}

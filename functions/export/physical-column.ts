import type { StoredColumn } from '#kernel/columns/stored-table.ts';

export type ValuesMode = 'physical' | 'raw';

/** What a column holds in a file. Chosen from the signal's definition, never from its data. */
export type PhysicalType = 'int32' | 'int64' | 'uint64' | 'double';

/** A column as it is written: physical = raw * factor + offset already applied (or not: mode `raw`). */
export interface PhysicalColumn {
  readonly name: string;
  readonly type: PhysicalType;
  /** `int64` is a Float64Array while doubles compute every possible value exactly, else 64-bit integers. */
  readonly values: Int32Array | Float64Array | BigInt64Array | BigUint64Array;
  readonly present: Uint8Array;
}

type Definition = Pick<StoredColumn, 'factor' | 'offset' | 'valueType' | 'bitLength'>;

interface Range {
  readonly min: bigint;
  readonly max: bigint;
}

interface IntegerRange extends Range {
  /** raw * factor stays below 2^53 too, so that doubles compute the values exactly. */
  readonly isSafe: boolean;
}

/**
 * All values a signal can take, or undefined when they are not all integers. Factor and offset are
 * doubles, and a double that is an integer is one exactly, however large: -2^63 as -9223372036854775808.
 */
function integerRange({
  factor,
  offset,
  valueType,
  bitLength,
}: Definition): IntegerRange | undefined {
  if (valueType !== 'unsigned' && valueType !== 'signed') return undefined;
  if (!Number.isInteger(factor) || !Number.isInteger(offset)) return undefined;
  const bits = BigInt(bitLength);
  const lowest = valueType === 'signed' ? -(1n << (bits - 1n)) : 0n;
  const highest = valueType === 'signed' ? (1n << (bits - 1n)) - 1n : (1n << bits) - 1n;
  const products = inOrder(lowest * BigInt(factor), highest * BigInt(factor));
  const range = inOrder(products.min + BigInt(offset), products.max + BigInt(offset));
  const isSafe = [products, range].every((each) => within(each, SAFE.min, SAFE.max));
  return { ...range, isSafe };
}

const inOrder = (a: bigint, b: bigint): Range => (a < b ? { min: a, max: b } : { min: b, max: a });

const within = (range: Range, min: bigint, max: bigint): boolean =>
  range.min >= min && range.max <= max;

const INT32 = { min: -(2n ** 31n), max: 2n ** 31n - 1n };
const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };
const SAFE = { min: BigInt(Number.MIN_SAFE_INTEGER), max: BigInt(Number.MAX_SAFE_INTEGER) };

/**
 * The narrowest of int32, int64, uint64 that holds every value of an integer signal with integer
 * factor and offset; double for everything else. Examples: 8 bits, factor 1, offset -40: int32;
 * 32 bits unsigned: int64; 64 bits unsigned: uint64, with offset -2^63: int64, with factor 2: double.
 */
function typeOf(range: IntegerRange | undefined): PhysicalType {
  if (range === undefined) return 'double';
  if (within(range, INT32.min, INT32.max)) return 'int32';
  if (within(range, INT64.min, INT64.max)) return 'int64';
  return within(range, 0n, 2n ** 64n - 1n) ? 'uint64' : 'double';
}

function allocate(
  type: PhysicalType,
  range: IntegerRange | undefined,
  rows: number,
): PhysicalColumn['values'] {
  if (type === 'int32') return new Int32Array(rows);
  if (type === 'uint64') return new BigUint64Array(rows);
  const wide = type === 'int64' && range?.isSafe === false;
  return wide ? new BigInt64Array(rows) : new Float64Array(rows);
}

/** Absent rows hold 0, which no reader sees. */
export function physicalColumn(
  column: StoredColumn,
  name: string,
  mode: ValuesMode,
): PhysicalColumn {
  const { present, values: raw } = column;
  const factor = mode === 'raw' ? 1 : column.factor;
  const offset = mode === 'raw' ? 0 : column.offset;
  const range = integerRange({ ...column, factor, offset });
  const type = typeOf(range);
  const values = allocate(type, range, present.length);
  if (values instanceof BigInt64Array || values instanceof BigUint64Array) {
    const wideFactor = BigInt(factor);
    const wideOffset = BigInt(offset);
    for (let row = 0; row < values.length; row++) {
      if (present[row] === 1) values[row] = BigInt(raw[row] ?? 0) * wideFactor + wideOffset;
    }
  } else {
    // An unscaled value is what was recorded: -0 + 0 would make 0 of a float's -0.
    const isUnscaled = factor === 1 && offset === 0;
    for (let row = 0; row < values.length; row++) {
      if (present[row] !== 1) continue;
      const value = Number(raw[row]);
      values[row] = isUnscaled ? value : value * factor + offset;
    }
  }
  return { name, type, values, present };
}

import { ByteWriter, type ColumnSource, parquetWrite, type SchemaElement } from 'hyparquet-writer';
import type { PhysicalColumn, PhysicalType } from './physical-column.ts';
import { TIME_COLUMN } from './safe-names.ts';

/** 128 Ki rows × 8 bytes is one page of 1 MiB a column; DuckDB works in groups of 122,880. */
const ROW_GROUP_ROWS = 131_072;
/** A dictionary pays when values repeat this often on average … */
const DICTIONARY_MIN_REPEATS = 8;
/** … and stays small. */
const DICTIONARY_MAX_VALUES = 4_096;

export interface ParquetOptions {
  /** Smaller and with statistics for readers (a compacted file), or quick (a part). */
  readonly effort: 'compact' | 'quick';
  readonly metadata: readonly { readonly key: string; readonly value: string }[];
  readonly createdBy: string;
}

type Encoding = NonNullable<ColumnSource['encoding']>;

const ELEMENTS: Readonly<Record<PhysicalType, Omit<SchemaElement, 'name'>>> = {
  int32: { type: 'INT32', repetition_type: 'OPTIONAL' },
  int64: { type: 'INT64', repetition_type: 'OPTIONAL' },
  // No logical type INTEGER beside it: hyparquet-writer 0.17.0 writes its bit width in a Thrift type that
  // DuckDB refuses ("Invalid data"). The converted type says the same.
  uint64: { type: 'INT64', repetition_type: 'OPTIONAL', converted_type: 'UINT_64' },
  double: { type: 'DOUBLE', repetition_type: 'OPTIONAL' },
};

const TIME_ELEMENT: SchemaElement = {
  name: TIME_COLUMN,
  type: 'INT64',
  repetition_type: 'REQUIRED',
  converted_type: 'TIMESTAMP_MICROS',
  logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
};

/** Values as the writer takes them: null where absent, 64-bit integers as bigint. */
function cells({ type, values, present }: PhysicalColumn): ColumnSource['data'] {
  const complete = !present.includes(0);
  const widen = type === 'int64' && values instanceof Float64Array;
  if (complete) return widen ? BigInt64Array.from(values, BigInt) : values;
  return Array.from(present, (here, row) => {
    if (here === 0) return null;
    const value = values[row] ?? null;
    return widen && typeof value === 'number' ? BigInt(value) : value;
  });
}

/**
 * Whether the present values are few enough for a dictionary; gives up early when they are not. None
 * with -0: hyparquet-writer 0.17.0 looks values up in a Map, to which -0 and 0 are one.
 */
function repeats({ type, values, present }: PhysicalColumn): boolean {
  const limit = Math.min(DICTIONARY_MAX_VALUES, Math.floor(values.length / DICTIONARY_MIN_REPEATS));
  const seen = new Set<number | bigint>();
  for (let row = 0; row < values.length; row++) {
    if (present[row] !== 1) continue;
    const value = values[row] ?? 0;
    if (type === 'double' && Object.is(value, -0)) return false;
    seen.add(value);
    if (seen.size > limit) return false;
  }
  return seen.size > 0;
}

/** Counters and slow integers are small as differences, noisy doubles as planes of bytes. */
function encodingOf(column: PhysicalColumn, effort: ParquetOptions['effort']): Encoding {
  if (!column.present.includes(1)) return 'PLAIN';
  if (effort === 'compact' && repeats(column)) return 'RLE_DICTIONARY';
  return column.type === 'double' ? 'BYTE_STREAM_SPLIT' : 'DELTA_BINARY_PACKED';
}

/**
 * A table as one Parquet file: `time_us` (INT64, logical type TIMESTAMP in µs, UTC), then one optional
 * column a signal. Equal input gives equal bytes. Rows must be in the order of time already.
 */
export function parquetTable(
  timeUs: Float64Array,
  columns: readonly PhysicalColumn[],
  options: ParquetOptions,
): Uint8Array {
  const writer = new ByteWriter(4_096 + 2 * timeUs.length * (columns.length + 1));
  const compact = options.effort === 'compact';
  const done = parquetWrite({
    writer,
    schema: [
      { name: 'root', num_children: columns.length + 1 },
      TIME_ELEMENT,
      ...columns.map(({ name, type }) => ({ name, ...ELEMENTS[type] })),
    ],
    columnData: [
      {
        name: TIME_COLUMN,
        data: BigInt64Array.from(timeUs, BigInt),
        encoding: 'DELTA_BINARY_PACKED',
      },
      ...columns.map((column) => ({
        name: column.name,
        data: cells(column),
        encoding: encodingOf(column, options.effort),
      })),
    ],
    codec: compact ? 'SNAPPY' : 'UNCOMPRESSED',
    statistics: compact,
    rowGroupSize: ROW_GROUP_ROWS,
    // One page a row group: 0 switches the page splitting off.
    pageSize: 0,
    kvMetadata: options.metadata.map(({ key, value }) => ({ key, value })),
    createdBy: options.createdBy,
  });
  if (done !== undefined) throw new Error('Writing to memory must not wait');
  return writer.getBytes();
}

import { DuckDBInstance, DuckDBTimestampTZValue } from '@duckdb/node-api';
import { parse } from 'csv-parse/sync';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';

type Cell = number | bigint | null;

export interface ReadTable {
  readonly names: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

/** Times as µs, whatever a reader makes of a timestamp. */
const asCell = (value: unknown): Cell => {
  if (value instanceof DuckDBTimestampTZValue) return value.micros;
  if (value === null || typeof value === 'number' || typeof value === 'bigint') return value;
  throw new Error(`not a cell: ${typeof value}`);
};

/** A Parquet file as DuckDB reads it. */
export async function duckdbTable(path: string): Promise<ReadTable & { types: string[] }> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  try {
    const reader = await connection.runAndReadAll('SELECT * FROM read_parquet($path)', { path });
    return {
      names: reader.columnNames(),
      types: reader.columnTypes().map(String),
      rows: reader.getRows().map((row) => row.map(asCell)),
    };
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

const asArrayBuffer = (bytes: Uint8Array): ArrayBuffer => Uint8Array.from(bytes).buffer;

/** A Parquet file as hyparquet reads it; timestamps come as µs. */
export async function hyparquetTable(bytes: Uint8Array): Promise<ReadTable> {
  const file = asArrayBuffer(bytes);
  const { schema } = parquetMetadata(file);
  const names = schema.slice(1).map(({ name }) => name);
  const parsers = { timestampFromMicroseconds: (micros: bigint) => micros };
  const objects = await parquetReadObjects({ file, parsers });
  return { names, rows: objects.map((row) => names.map((name) => asCell(row[name] ?? null))) };
}

export function keyValues(bytes: Uint8Array): Record<string, string | undefined> {
  const { key_value_metadata: pairs } = parquetMetadata(asArrayBuffer(bytes));
  return Object.fromEntries((pairs ?? []).map(({ key, value }) => [key, value]));
}

/** A CSV file as a strict parser reads it: equal numbers of fields, no stray quotes. */
export function csvCells(bytes: Uint8Array): { names: string[]; rows: string[][] } {
  const [names = [], ...rows] = parse(Buffer.from(bytes), {
    relax_column_count: false,
    relax_quotes: false,
    record_delimiter: '\r\n',
  });
  return { names, rows };
}

/** The same with numbers: integers beyond 2^53 as bigint. */
export function csvTableOf(bytes: Uint8Array): ReadTable {
  const { names, rows } = csvCells(bytes);
  const cell = (text: string): Cell => {
    if (text === '') return null;
    const number = Number(text);
    return /^-?\d+$/.test(text) && !Number.isSafeInteger(number) ? BigInt(text) : number;
  };
  return { names, rows: rows.map((row) => row.map(cell)) };
}

/** Cells that compare by value: 5n and 5 are the same number, -0 and 0 are not. */
export const comparable = (rows: ReadTable['rows']): (string | null)[][] =>
  rows.map((row) =>
    row.map((value) => {
      if (value === null) return null;
      if (Object.is(value, -0)) return '-0';
      const whole = typeof value === 'bigint' || Number.isSafeInteger(value);
      return whole ? String(BigInt(value)) : String(value);
    }),
  );

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { parquetMetadata } from 'hyparquet';
import { afterAll, expect, test } from 'vitest';
import { csvTable } from './csv-table.ts';
import { type ParquetOptions, parquetTable } from './parquet-table.ts';
import { type PhysicalColumn, physicalColumn, type ValuesMode } from './physical-column.ts';
import { columnOf } from './testing/tables.ts';
import { comparable, csvTableOf, duckdbTable, hyparquetTable } from './testing/read-tables.ts';

const folder = mkdtempSync(join(tmpdir(), 'tachograph-parquet-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const START_US = 1_700_000_000_123_456;

const options = (effort: ParquetOptions['effort']): ParquetOptions => ({
  effort,
  metadata: [{ key: 'tachograph.session', value: 's1' }],
  createdBy: 'tachograph/0.0.0',
});

async function readBack(
  columns: readonly PhysicalColumn[],
  effort: ParquetOptions['effort'],
  times?: Float64Array,
) {
  const rows = columns[0]?.present.length ?? 0;
  const timeUs = times ?? Float64Array.from({ length: rows }, (_, row) => START_US + row * 10_000);
  const bytes = parquetTable(timeUs, columns, options(effort));
  const path = join(folder, 'table.parquet');
  writeFileSync(path, bytes);
  const csv = csvTableOf(Buffer.concat([...csvTable(timeUs, columns)]));
  return { bytes, csv, duckdb: await duckdbTable(path), hyparquet: await hyparquetTable(bytes) };
}

const physical = (mode: ValuesMode = 'physical') => [
  physicalColumn(columnOf('COUNT', [0, 255, null, 7]), 'COUNT', mode),
  physicalColumn(
    columnOf('TEMP', [-128, null, 127, 0], { valueType: 'signed', offset: -40 }),
    'TEMP',
    mode,
  ),
  physicalColumn(
    columnOf('SPEED', [0, 12_345, 65_535, null], { bitLength: 16, factor: 0.01 }),
    'SPEED',
    mode,
  ),
  physicalColumn(columnOf('LONG', [0, 4_294_967_295, null, 1], { bitLength: 32 }), 'LONG', mode),
  physicalColumn(
    columnOf('RATIO', [0.5, null, -0.1, 1e-7], { bitLength: 64, valueType: 'float64' }),
    'RATIO',
    mode,
  ),
  physicalColumn(
    columnOf('TOTAL', [0n, 2n ** 64n - 1n, 2n ** 63n, null], { bitLength: 64 }),
    'TOTAL',
    mode,
  ),
  physicalColumn(
    columnOf('DRIFT', [-(2n ** 63n), 2n ** 63n - 1n, null, -1n], {
      bitLength: 64,
      valueType: 'signed',
    }),
    'DRIFT',
    mode,
  ),
  physicalColumn(columnOf('NEVER', [null, null, null, null]), 'NEVER', mode),
];

const EXPECTED = [
  [START_US, 0, -168, 0, 0, 0.5, 0n, -(2n ** 63n), null],
  [START_US + 10_000, 255, null, 123.45, 4_294_967_295, null, 2n ** 64n - 1n, 2n ** 63n - 1n, null],
  [START_US + 20_000, null, 87, 655.35, null, -0.1, 2n ** 63n, null, null],
  [START_US + 30_000, 7, -40, null, 1, 1e-7, null, -1n, null],
];

test.each(['compact', 'quick'] as const)(
  'parquetTable (%s) + integers, scaled, floats, 64 bits, nulls reads equal in DuckDB, hyparquet and CSV',
  async (effort) => {
    const { duckdb, hyparquet, csv } = await readBack(physical(), effort);
    expect(comparable(duckdb.rows)).toEqual(comparable(EXPECTED));
    expect(comparable(hyparquet.rows)).toEqual(comparable(EXPECTED));
    expect(comparable(csv.rows)).toEqual(comparable(EXPECTED));
    expect(duckdb.types).toEqual([
      'TIMESTAMP WITH TIME ZONE',
      'INTEGER',
      'INTEGER',
      'DOUBLE',
      'BIGINT',
      'DOUBLE',
      'UBIGINT',
      'BIGINT',
      'INTEGER',
    ]);
    expect(duckdb.names).toEqual(csv.names);
    expect(duckdb.names).toEqual(hyparquet.names);
  },
);

test('parquetTable + mode raw holds the integers before factor and offset', async () => {
  const { duckdb, csv } = await readBack(physical('raw'), 'compact');
  const speed = duckdb.names.indexOf('SPEED');
  expect(duckdb.rows.map((row) => row[speed])).toEqual([0, 12_345, 65_535, null]);
  expect(csv.rows.map((row) => row[speed])).toEqual([0, 12_345, 65_535, null]);
  expect(duckdb.types[speed]).toBe('INTEGER');
});

test('parquetTable + NaN and infinities reads equal everywhere', async () => {
  const cells = [Number.NaN, Infinity, -Infinity, null];
  const float = columnOf('F', cells, { bitLength: 32, valueType: 'float32' });
  const { duckdb, hyparquet, csv } = await readBack(
    [physicalColumn(float, 'F', 'physical')],
    'compact',
  );
  for (const table of [duckdb, hyparquet, csv]) {
    expect(table.rows.map((row) => row[1])).toEqual(cells);
  }
});

test('parquetTable + a clock that believes in 1970 or 2100 keeps the times', async () => {
  const times = Float64Array.of(-500_000, 0, 4_102_444_800_000_001);
  const column = physicalColumn(columnOf('N', [1, 2, 3]), 'N', 'physical');
  const { duckdb, hyparquet, csv } = await readBack([column], 'compact', times);
  for (const table of [duckdb, hyparquet, csv]) {
    expect(table.rows.map((row) => Number(row[0]))).toEqual([...times]);
  }
});

test('parquetTable + a column per kind of data uses delta, dictionary and byte-stream-split', () => {
  const rows = 1_000;
  const counter = Array.from({ length: rows }, (_, row) => row);
  const columns = [
    physicalColumn(columnOf('COUNTER', counter, { bitLength: 16 }), 'COUNTER', 'physical'),
    physicalColumn(
      columnOf(
        'GEAR',
        counter.map((row) => row % 3),
      ),
      'GEAR',
      'physical',
    ),
    physicalColumn(columnOf('NOISE', counter, { bitLength: 16, factor: 0.1 }), 'NOISE', 'physical'),
    physicalColumn(
      columnOf(
        'NEVER',
        counter.map(() => null),
      ),
      'NEVER',
      'physical',
    ),
  ];
  const bytes = parquetTable(Float64Array.from(counter), columns, options('compact'));
  const { row_groups: groups } = parquetMetadata(Uint8Array.from(bytes).buffer);
  const encodings = groups[0]?.columns.map((column) => column.meta_data?.encodings.at(-1));
  expect(encodings).toEqual([
    'DELTA_BINARY_PACKED',
    'DELTA_BINARY_PACKED',
    'RLE_DICTIONARY',
    'BYTE_STREAM_SPLIT',
    'PLAIN',
  ]);
});

test('parquetTable + more rows than a row group holds cuts row groups of 131,072', async () => {
  const rows = 131_073;
  const counter = Array.from({ length: rows }, (_, row) => row % 4_099);
  const column = physicalColumn(columnOf('C', counter, { bitLength: 16 }), 'C', 'physical');
  const { bytes, duckdb } = await readBack([column], 'compact');
  const { row_groups: groups } = parquetMetadata(Uint8Array.from(bytes).buffer);
  expect(groups.map((group) => Number(group.num_rows))).toEqual([131_072, 1]);
  expect(duckdb.rows.map((row) => row[1])).toEqual(counter);
});

test('parquetTable + equal input gives equal bytes', () => {
  const times = Float64Array.of(1, 2, 3, 4);
  const first = parquetTable(times, physical(), options('compact'));
  expect(Buffer.compare(first, parquetTable(times, physical(), options('compact')))).toBe(0);
});

test('parquetTable and csvTable + any signal hold raw * factor + offset in all readers', async () => {
  const signal = fc
    .record({
      bitLength: fc.integer({ min: 1, max: 64 }),
      valueType: fc.constantFrom('unsigned' as const, 'signed' as const),
      factor: fc.oneof(fc.integer({ min: -1_000, max: 1_000 }), fc.constantFrom(0.1, 0.01, 1 / 3)),
      offset: fc.oneof(fc.integer({ min: -1_000_000, max: 1_000_000 }), fc.constant(-67.67)),
    })
    .chain((definition) => {
      const bits = BigInt(definition.bitLength);
      const half = 1n << (bits - 1n);
      const signed = definition.valueType === 'signed';
      const cell = signed
        ? fc.bigInt({ min: -half, max: half - 1n })
        : fc.bigInt({ min: 0n, max: 2n * half - 1n });
      const cells = fc.array(fc.option(cell), { minLength: 1, maxLength: 300 });
      return cells.map((values) => ({ definition, values }));
    });
  await fc.assert(
    fc.asyncProperty(signal, async ({ definition, values }) => {
      const stored = columnOf('X', values, definition);
      const { duckdb, hyparquet, csv } = await readBack(
        [physicalColumn(stored, 'X', 'physical')],
        'compact',
      );
      const { factor, offset } = definition;
      const exact =
        Number.isInteger(factor) && Number.isInteger(offset) && definition.bitLength <= 53;
      const expected = values.map((value): number | bigint | null => {
        if (value === null) return null;
        if (exact) return value * BigInt(factor) + BigInt(offset);
        return Number(value) * factor + offset;
      });
      const cells = (table: { rows: readonly (readonly (number | bigint | null)[])[] }) =>
        comparable(table.rows.map((row) => [row[1] ?? null])).flat();
      expect(cells(hyparquet)).toEqual(cells(duckdb));
      expect(cells(csv)).toEqual(cells(duckdb));
      if (definition.bitLength <= 53) {
        expect(cells(duckdb)).toEqual(comparable(expected.map((cell) => [cell])).flat());
      }
    }),
    { numRuns: 40 },
  );
});

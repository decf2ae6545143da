import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { arbitraryTables } from './testing/arbitrary-tables.ts';
import { BLOCK_PREFIX_BYTES, MAX_CELLS, MAX_TEXT_BYTES } from './block-format.ts';
import { decodeTables } from './decode-tables.ts';
import { encodeTables } from './encode-tables.ts';
import type { StoredColumn, StoredTable } from './stored-table.ts';

const ones = (rows: number): Uint8Array => new Uint8Array(rows).fill(1);

const speed = (
  values: StoredColumn['values'],
  change: Partial<StoredColumn> = {},
): StoredColumn => ({
  name: 'SPEED',
  unit: 'km/h',
  factor: 0.01,
  offset: 0,
  valueType: 'unsigned',
  bitLength: 16,
  values,
  present: ones(values.length),
  ...change,
});

const table = (timeUs: number[], columns: StoredColumn[]): StoredTable => ({
  bus: 'can0',
  message: { name: 'SPEED', id: 0xb4, extended: false },
  timeUs: Float64Array.from(timeUs),
  columns,
});

const roundTrip = (tables: StoredTable[], codec: 'gzip' | 'zstd' = 'gzip'): StoredTable[] =>
  decodeTables(encodeTables(tables, codec));

test('encodeTables + decodeTables give back any tables, with either compressor', () => {
  fc.assert(
    fc.property(
      arbitraryTables,
      fc.constantFrom('gzip' as const, 'zstd' as const),
      (tables, codec) => {
        expect(roundTrip(tables, codec)).toEqual(tables);
      },
    ),
    { numRuns: 300 },
  );
});

test('encodeTables gives equal bytes for equal tables', () => {
  fc.assert(
    fc.property(arbitraryTables, (tables) => {
      expect(encodeTables(structuredClone(tables), 'gzip')).toEqual(encodeTables(tables, 'gzip'));
    }),
    { numRuns: 50 },
  );
});

test('encodeTables keeps a block without tables and a table without rows or columns', () => {
  expect(roundTrip([])).toEqual([]);
  expect(roundTrip([table([], [])])).toEqual([table([], [])]);
  expect(roundTrip([table([5, 5], [])])).toEqual([table([5, 5], [])]);
});

test('encodeTables keeps 64-bit integers exact at their limits', () => {
  const signed = BigInt64Array.of(-(2n ** 63n), 2n ** 63n - 1n, 0n, -1n);
  const unsigned = BigUint64Array.of(0n, 2n ** 64n - 1n, 2n ** 63n, 1n);
  const columns = [
    speed(signed, { valueType: 'signed', bitLength: 64 }),
    speed(unsigned, { bitLength: 64 }),
  ];
  expect(roundTrip([table([1, 2, 3, 4], columns)])[0]?.columns).toEqual(columns);
});

test('encodeTables keeps doubles exact up to 2^53, where a difference no longer fits a double', () => {
  const values = Float64Array.of(2 ** 53 - 1, -(2 ** 53 - 1), 2 ** 50, -(2 ** 50), 2 ** 50 + 1);
  const columns = [speed(values, { valueType: 'signed', bitLength: 53 })];
  expect(roundTrip([table([1, 2, 3, 4, 5], columns)])[0]?.columns).toEqual(columns);
});

test('encodeTables keeps floats bit for bit: -0, infinities, NaN, subnormals', () => {
  const values = Float64Array.of(-0, 0, Infinity, -Infinity, NaN, 5e-324, 0.1);
  const columns = [
    speed(values, { valueType: 'float64', bitLength: 64 }),
    speed(Float64Array.from(values, Math.fround), { valueType: 'float32', bitLength: 32 }),
    speed(new Float64Array(7).fill(-0), { valueType: 'float64', bitLength: 64 }),
  ];
  expect(roundTrip([table([1, 2, 3, 4, 5, 6, 7], columns)])[0]?.columns).toEqual(columns);
});

test('encodeTables stores a constant column at no cost a row', () => {
  const rows = 10_000;
  const timeUs = Array.from({ length: rows }, (_, row) => row * 10_000);
  const without = gunzipSync(
    encodeTables([table(timeUs, [])], 'gzip').subarray(BLOCK_PREFIX_BYTES),
  );
  const constant = speed(new Float64Array(rows).fill(1234));
  const block = encodeTables([table(timeUs, [constant])], 'gzip');
  // Name, unit, two numbers, places, types, form and value: some fifty bytes, whatever the rows.
  expect(gunzipSync(block.subarray(BLOCK_PREFIX_BYTES)).length - without.length).toBeLessThan(50);
});

test('encodeTables keeps the absent cells of a multiplexed signal out of the values', () => {
  const present = Uint8Array.from({ length: 100 }, (_, row) => Number(row % 4 === 1));
  const values = Float64Array.from(present, (flag, row) => flag * row);
  const columns = [speed(values, { present })];
  const timeUs = Array.from({ length: 100 }, (_, row) => row);
  expect(roundTrip([table(timeUs, columns)])[0]?.columns).toEqual(columns);
});

test('encodeTables refuses more cells than a reader would allocate', () => {
  const rows = MAX_CELLS / 16;
  const column = speed(new Float64Array(rows));
  const wide = table(
    [],
    Array.from({ length: 16 }, () => column),
  );
  const tables = [{ ...wide, timeUs: new Float64Array(rows) }];
  expect(() => encodeTables(tables, 'gzip')).toThrow(
    /8912896 cells; a block holds at most 8388608/,
  );
});

test('encodeTables refuses a name longer than a reader takes and keeps the longest', () => {
  const named = (length: number): StoredTable =>
    table([], [speed(new Float64Array(0), { name: 'n'.repeat(length) })]);
  expect(roundTrip([named(MAX_TEXT_BYTES)])).toEqual([named(MAX_TEXT_BYTES)]);
  expect(() => encodeTables([named(MAX_TEXT_BYTES + 1)], 'gzip')).toThrow(/bytes in a name/);
});

test('encodeTables refuses rows that do not ascend in time', () => {
  expect(() => encodeTables([table([2, 1], [])], 'gzip')).toThrow(/rows must ascend in time/);
});

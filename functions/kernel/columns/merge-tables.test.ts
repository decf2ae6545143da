import { expect, test } from 'vitest';
import { concatRecorded, mergeRaster } from './merge-tables.ts';
import type { StoredColumn, StoredTable } from './stored-table.ts';

/** `null` is an absent cell. */
const column = (cells: (number | null)[], change: Partial<StoredColumn> = {}): StoredColumn => ({
  name: 'SPEED',
  unit: 'km/h',
  factor: 0.01,
  offset: 0,
  valueType: 'unsigned',
  bitLength: 16,
  values: Float64Array.from(cells, (cell) => cell ?? 0),
  present: Uint8Array.from(cells, (cell) => Number(cell !== null)),
  ...change,
});

const table = (
  id: number,
  timeUs: number[],
  columns: StoredColumn[],
  bus = 'can0',
): StoredTable => ({
  bus,
  message: { name: `M${id}`, id, extended: false },
  timeUs: Float64Array.from(timeUs),
  columns,
});

const cells = ({ values, present }: StoredColumn): unknown[] =>
  Array.from(present, (flag, row) => (flag === 1 ? values[row] : null));

test('concatRecorded joins the rows of all windows and orders the messages', () => {
  const first = [table(9, [1], [column([90])]), table(2, [1, 1], [column([20, null])])];
  const second = [table(2, [5], [column([21])]), table(1, [6], [column([10])], 'a')];
  const joined = concatRecorded([first, second]);
  expect(joined.map(({ bus, message }) => [bus, message.id])).toEqual([
    ['a', 1],
    ['can0', 2],
    ['can0', 9],
  ]);
  expect(joined[1]?.timeUs).toEqual(Float64Array.of(1, 1, 5));
  expect(joined[1]?.columns.map(cells)).toEqual([[20, null, 21]]);
});

test('concatRecorded of no windows, or of windows without tables, is empty', () => {
  expect(concatRecorded([])).toEqual([]);
  expect(concatRecorded([[], []])).toEqual([]);
});

test('concatRecorded keeps 64-bit columns', () => {
  const wide = (value: bigint): StoredColumn =>
    column([], { values: BigUint64Array.of(value), present: Uint8Array.of(1), bitLength: 64 });
  const joined = concatRecorded([
    [table(1, [1], [wide(2n ** 64n - 1n)])],
    [table(1, [2], [wide(1n)])],
  ]);
  expect(joined[0]?.columns[0]?.values).toEqual(BigUint64Array.of(2n ** 64n - 1n, 1n));
});

test('concatRecorded tells a standard from an extended id', () => {
  const standard = table(1, [1], []);
  const extended = { ...standard, message: { ...standard.message, extended: true } };
  const joined = concatRecorded([[extended, standard]]);
  expect(joined.map(({ message }) => message.extended)).toEqual([false, true]);
});

test('mergeRaster makes one row of equal times, in which a value wins over none', () => {
  const windows = [
    [table(1, [100, 200], [column([1, null]), column([7, 8])])],
    [table(1, [200, 300], [column([2, 3]), column([null, 9])])],
  ];
  const [merged] = mergeRaster(windows);
  expect(merged?.timeUs).toEqual(Float64Array.of(100, 200, 300));
  expect(merged?.columns.map(cells)).toEqual([
    [1, 2, 3],
    [7, 8, 9],
  ]);
});

test('mergeRaster orders rows of a window that reach back before the one before it ends', () => {
  const [merged] = mergeRaster([
    [table(1, [100, 400], [column([1, 4])])],
    [table(1, [200, 300, 500], [column([2, 3, 5])])],
  ]);
  expect(merged?.timeUs).toEqual(Float64Array.of(100, 200, 300, 400, 500));
  expect(merged?.columns.map(cells)).toEqual([[1, 2, 3, 4, 5]]);
});

test('concatRecorded and mergeRaster refuse windows that were decoded differently', () => {
  const one = table(1, [1], [column([1])]);
  const others: [StoredTable, RegExp][] = [
    [table(1, [2], [column([1], { factor: 0.02 })]), /"SPEED" and "SPEED" are not defined alike/],
    [table(1, [2], [column([1], { name: 'V' })]), /"SPEED" and "V" are not defined alike/],
    [table(1, [2], []), /1 and 0 signals/],
    [{ ...one, message: { ...one.message, name: 'X' } }, /the message is also called "X"/],
  ];
  for (const [other, message] of others) {
    expect(() => concatRecorded([[one], [other]])).toThrow(message);
    expect(() => mergeRaster([[one], [other]])).toThrow(message);
  }
});

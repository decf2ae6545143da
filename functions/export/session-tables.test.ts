import { expect, test } from 'vitest';
import { encodeTables } from '#kernel/columns/encode-tables.ts';
import { concatRecorded, mergeRaster } from '#kernel/columns/merge-tables.ts';
import type { StoredTable } from '#kernel/columns/stored-table.ts';
import { sessionTables, sortedByTime } from './session-tables.ts';
import { columnOf, tableOf } from './testing/tables.ts';

const message = (id: number) => ({ message: { name: `M${id}`, id, extended: false } });

/** Window w: one row of each message, at w seconds. */
const blocks = (windows: number, ids: readonly number[]): Uint8Array[] =>
  Array.from({ length: windows }, (_, window) =>
    encodeTables(
      ids.map((id) => tableOf([window * 1e6], [columnOf('X', [window])], message(id))),
      'gzip',
    ),
  );

async function collect(tables: AsyncIterable<StoredTable>): Promise<[number, number[]][]> {
  const found: [number, number[]][] = [];
  for await (const table of tables) {
    found.push([table.message.id, [...(table.columns[0]?.values ?? [])].map(Number)]);
  }
  return found;
}

test('sessionTables + three windows give each message once, with its rows in order', async () => {
  expect(await collect(sessionTables(blocks(3, [1, 2]), concatRecorded, 's1'))).toEqual([
    [1, [0, 1, 2]],
    [2, [0, 1, 2]],
  ]);
});

test('sessionTables + more cells than fit takes several passes and gives the same tables', async () => {
  const all = blocks(4, [1, 2, 3, 4, 5]);
  const whole = await collect(sessionTables(all, concatRecorded, 's1'));
  // A message has 4 rows of 2 cells: 17 cells hold two messages, 1 cell holds one at a time.
  for (const maxCells of [17, 8, 1]) {
    const limits = { maxCells, maxCellsPerMessage: 8 };
    expect(await collect(sessionTables(all, concatRecorded, 's1', limits))).toEqual(whole);
  }
});

test('sessionTables + one message beyond the limit is refused by name and figure', async () => {
  const limits = { maxCells: 100, maxCellsPerMessage: 7 };
  await expect(
    collect(sessionTables(blocks(4, [1]), concatRecorded, 's1', limits)),
  ).rejects.toMatchObject({
    code: 'SESSION_TOO_LARGE',
    message: expect.stringContaining('8 values of one message, more than the 7'),
  });
});

test('sessionTables + raster rows of two windows at one time become one row', async () => {
  const tables = [[null, 1] as const, [2, null] as const].map(([a, b]) =>
    encodeTables([tableOf([0], [columnOf('A', [a]), columnOf('B', [b])])], 'gzip'),
  );
  const merged: StoredTable[] = [];
  for await (const table of sessionTables(tables, mergeRaster, 's1')) merged.push(table);
  expect(merged[0]?.columns.map((column) => column.values[0])).toEqual([2, 1]);
});

test('sortedByTime + rows out of order are sorted, rows of equal time keep their order', () => {
  const sorted = sortedByTime(
    tableOf(
      [5, 3, 5, 1],
      [columnOf('X', [50, null, 51, 10]), columnOf('Y', [1n, 2n, 3n, 4n], { bitLength: 64 })],
    ),
  );
  expect([...sorted.timeUs]).toEqual([1, 3, 5, 5]);
  expect(sorted.columns.map((column) => [...column.values])).toEqual([
    [10, 0, 50, 51],
    [4n, 2n, 1n, 3n],
  ]);
  expect([...(sorted.columns[0]?.present ?? [])]).toEqual([1, 0, 1, 1]);
});

test('sortedByTime + a table in order is passed on as it is', () => {
  const table = tableOf([1, 1, 2], [columnOf('X', [1, 2, 3])]);
  expect(sortedByTime(table)).toBe(table);
});

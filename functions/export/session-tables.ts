import { nextTurn } from '#kernel/system/next-turn.ts';
import { TachographError } from '#kernel/core/errors.ts';
import { decodeTables } from '#kernel/columns/decode-tables.ts';
import { compareTables } from '#kernel/columns/merge-tables.ts';
import type { StoredTable } from '#kernel/columns/stored-table.ts';

/** Cells (rows × columns) of all messages in memory at once: at 9 bytes, and twice while merging, 150 MB. */
const MAX_CELLS_AT_ONCE = 8_000_000;
/** Cells of one message: 5 columns at 100 Hz for 8 hours have 17 million; 300 MB and twice while merging. */
const MAX_CELLS_PER_MESSAGE = 32_000_000;

type Merge = (windows: readonly (readonly StoredTable[])[]) => StoredTable[];

const keyOf = ({ bus, message }: StoredTable): string =>
  JSON.stringify([bus, message.id, message.extended]);

const cellsOf = (table: StoredTable): number => table.timeUs.length * (table.columns.length + 1);

/** A message's tables of all windows, in the order of the windows. */
class Gathered {
  readonly parts: StoredTable[] = [];
  cells = 0;

  add(table: StoredTable): void {
    this.parts.push(table);
    this.cells += cellsOf(table);
  }
}

/** Rows in the order of time; rows with equal times keep their order. The usual table is in order. */
export function sortedByTime(table: StoredTable): StoredTable {
  const { timeUs, columns } = table;
  if (timeUs.every((time, row) => row === 0 || (timeUs[row - 1] ?? 0) <= time)) return table;
  const order = Array.from(timeUs.keys()).sort((a, b) => (timeUs[a] ?? 0) - (timeUs[b] ?? 0));
  return {
    ...table,
    timeUs: Float64Array.from(order, (row) => timeUs[row] ?? 0),
    columns: columns.map((column) => {
      const values = column.values.slice();
      for (const [to, from] of order.entries()) values[to] = column.values[from] ?? 0;
      return {
        ...column,
        values,
        present: Uint8Array.from(order, (row) => column.present[row] ?? 0),
      };
    }),
  };
}

/**
 * The tables of a session, merged from the blocks of its windows (ascending), by bus and id.
 *
 * Memory is bounded: when the messages together exceed `maxCells`, the last ones in the order wait for
 * another pass over the blocks. Throws SESSION_TOO_LARGE when one message alone has too many cells.
 */
export async function* sessionTables(
  blocks: readonly Uint8Array[],
  merge: Merge,
  session: string,
  limits = { maxCells: MAX_CELLS_AT_ONCE, maxCellsPerMessage: MAX_CELLS_PER_MESSAGE },
): AsyncGenerator<StoredTable> {
  const done = new Set<string>();
  for (let postponed = true; postponed;) {
    const gathered = new Map<string, Gathered>();
    const waiting = new Set<string>();
    let cells = 0;
    for (const block of blocks) {
      for (const table of decodeTables(block)) {
        const key = keyOf(table);
        if (table.timeUs.length === 0 || done.has(key) || waiting.has(key)) continue;
        const entry = gathered.get(key) ?? new Gathered();
        gathered.set(key, entry);
        entry.add(table);
        cells += cellsOf(table);
        checkSize(entry, session, limits.maxCellsPerMessage);
        if (cells > limits.maxCells) cells -= postponeLast(gathered, waiting);
      }
      await nextTurn();
    }
    for (const key of inOrder(gathered)) {
      const parts = gathered.get(key)?.parts ?? [];
      gathered.delete(key);
      done.add(key);
      for (const table of merge(parts.map((part) => [part]))) yield sortedByTime(table);
    }
    postponed = waiting.size > 0;
  }
}

function checkSize(entry: Gathered, session: string, max: number): void {
  if (entry.cells <= max) return;
  const fields = { session, what: 'values of one message', value: entry.cells, max };
  throw new TachographError('SESSION_TOO_LARGE', fields);
}

const inOrder = (gathered: ReadonlyMap<string, Gathered>): string[] =>
  [...gathered]
    .map(([key, { parts }]) => ({ key, parts }))
    .sort((a, b) => {
      const [first, second] = [a.parts[0], b.parts[0]];
      return first === undefined || second === undefined ? 0 : compareTables(first, second);
    })
    .map(({ key }) => key);

/** Gives up the message that comes last, never the only one; how many cells that freed. */
function postponeLast(gathered: Map<string, Gathered>, waiting: Set<string>): number {
  if (gathered.size === 1) return 0;
  const key = inOrder(gathered).at(-1) ?? '';
  const freed = gathered.get(key)?.cells ?? 0;
  gathered.delete(key);
  waiting.add(key);
  return freed;
}

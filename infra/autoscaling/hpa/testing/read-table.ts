import { must } from '#kernel/core/assert.ts';

/**
 * Rows of a table written as text: a line of names, then a line for each row, columns parted by `|`. So a
 * long table of a source that is restated stays one that can be read beside it. Throws where a row has
 * not as many columns as the first line.
 */
export function readTable<Column extends string>(
  text: string,
  ...columns: readonly Column[]
): readonly Readonly<Record<Column, string>>[] {
  const lines = text.trim().split('\n');
  const cells = lines.map((line) => line.split('|').map((cell) => cell.trim()));
  const head = must(cells[0], 'a line of names');
  return cells.slice(1).map((row) => {
    if (row.length !== head.length)
      throw new Error(`A row has ${row.length} columns: ${row.join()}`);
    return Object.fromEntries(
      columns.map((column) => [column, must(row[head.indexOf(column)], `a column ${column}`)]),
    ) as Record<Column, string>;
  });
}

import type { StoredColumn, StoredTable } from '#kernel/columns/stored-table.ts';

/** A column of a test table: null where the row has no value. */
export function columnOf(
  name: string,
  cells: readonly (number | bigint | null)[],
  definition: Partial<Omit<StoredColumn, 'name' | 'values' | 'present'>> = {},
): StoredColumn {
  const { valueType = 'unsigned', bitLength = 8 } = definition;
  const raw = cells.map((cell) => cell ?? 0);
  const wide = bitLength > 53 && (valueType === 'unsigned' || valueType === 'signed');
  let values: StoredColumn['values'] = Float64Array.from(raw, Number);
  if (wide && valueType === 'signed') values = BigInt64Array.from(raw, BigInt);
  if (wide && valueType === 'unsigned') values = BigUint64Array.from(raw, BigInt);
  return {
    name,
    unit: '',
    factor: 1,
    offset: 0,
    valueType,
    bitLength,
    ...definition,
    values,
    present: Uint8Array.from(cells, (cell) => Number(cell !== null)),
  };
}

/** Message 100 of the test DBC on can0, unless said otherwise. */
export const tableOf = (
  timeUs: readonly number[],
  columns: readonly StoredColumn[],
  change: Partial<Pick<StoredTable, 'bus' | 'message'>> = {},
): StoredTable => ({
  bus: 'can0',
  message: { name: 'MOTION', id: 100, extended: false },
  ...change,
  timeUs: Float64Array.from(timeUs),
  columns,
});

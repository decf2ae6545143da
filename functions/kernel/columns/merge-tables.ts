import { must } from '#kernel/core/assert.ts';
import { TachographError } from '#kernel/core/errors.ts';
import type { StoredColumn, StoredTable } from './stored-table.ts';
import { timeAxis } from './time-codec.ts';
import { arrayKind, emptyValues } from './value-codec.ts';

/**
 * The recorded tables of a session: each message's rows of all windows, one window after the other.
 * Windows come ascending and do not overlap, so the result ascends in time. Tables come out by bus, then id.
 */
export function concatRecorded(windows: readonly (readonly StoredTable[])[]): StoredTable[] {
  return byMessage(windows).map((parts) => {
    const rows = parts.reduce((sum, part) => sum + part.timeUs.length, 0);
    const timeUs = new Float64Array(rows);
    const places: Uint32Array[] = [];
    let start = 0;
    for (const part of parts) {
      timeUs.set(part.timeUs, start);
      places.push(Uint32Array.from(part.timeUs, (_, row) => start + row));
      start += part.timeUs.length;
    }
    return placed(parts, timeUs, places);
  });
}

/**
 * The raster of a session. A linear window may own cells of rows that lie before its start, so rows with
 * equal times become one row, in which a cell with a value wins over one without (no cell has two values:
 * it belongs to one window). Rows come out ascending, tables by bus, then id.
 */
export function mergeRaster(windows: readonly (readonly StoredTable[])[]): StoredTable[] {
  return byMessage(windows).map((parts) => {
    const timeUs = timeAxis(parts.map((part) => part.timeUs));
    return placed(
      parts,
      timeUs,
      parts.map((part) => placesOn(timeUs, part.timeUs)),
    );
  });
}

/** Where each of the ascending `times` stands in `axis`, which holds them all. */
function placesOn(axis: Float64Array, times: Float64Array): Uint32Array {
  let place = 0;
  return Uint32Array.from(times, (time) => {
    while (must(axis[place], 'time on the axis') < time) place += 1;
    return place;
  });
}

/** Row r of part p goes to row `places[p][r]`; absent cells leave what is there. */
function placed(
  parts: readonly StoredTable[],
  timeUs: Float64Array,
  places: readonly Uint32Array[],
): StoredTable {
  const first = must(parts[0], 'a part of the message');
  const columns = first.columns.map((template, index) => {
    const values = emptyValues(arrayKind(template.values), timeUs.length);
    const present = new Uint8Array(timeUs.length);
    for (const [at, part] of parts.entries()) {
      const column = sameColumn(part, index, template);
      const rows = must(places[at], 'places of the part');
      for (const [row, place] of rows.entries()) {
        if (column.present[row] !== 1) continue;
        values[place] = must(column.values[row], 'value of a present row');
        present[place] = 1;
      }
    }
    return { ...template, values, present };
  });
  return { bus: first.bus, message: first.message, timeUs, columns };
}

/** Every message's tables, in the order of the windows. */
function byMessage(windows: readonly (readonly StoredTable[])[]): StoredTable[][] {
  const groups = new Map<string, StoredTable[]>();
  for (const table of windows.flat()) {
    const { id, extended } = table.message;
    const key = JSON.stringify([table.bus, id, extended]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [table]);
    else group.push(table);
  }
  const parts = [...groups.values()];
  for (const [first, ...others] of parts) checkSameShape(must(first, 'first part'), others);
  return parts.sort((a, b) => compareTables(must(a[0], 'part'), must(b[0], 'part')));
}

/** By bus (code units), then id, standard before extended: the order in which blocks hold tables too. */
export function compareTables(
  a: Pick<StoredTable, 'bus' | 'message'>,
  b: Pick<StoredTable, 'bus' | 'message'>,
): number {
  if (a.bus !== b.bus) return a.bus < b.bus ? -1 : 1;
  return a.message.id - b.message.id || Number(a.message.extended) - Number(b.message.extended);
}

function checkSameShape(first: StoredTable, others: readonly StoredTable[]): void {
  for (const { message, columns } of others) {
    if (message.name !== first.message.name) {
      throw differ(first, `the message is also called "${message.name}"`);
    }
    if (columns.length !== first.columns.length) {
      throw differ(first, `${first.columns.length} and ${columns.length} signals`);
    }
  }
}

function sameColumn(part: StoredTable, index: number, template: StoredColumn): StoredColumn {
  const column = must(part.columns[index], 'column of the part');
  const same =
    column.name === template.name &&
    column.unit === template.unit &&
    column.factor === template.factor &&
    column.offset === template.offset &&
    column.valueType === template.valueType &&
    arrayKind(column.values) === arrayKind(template.values);
  if (!same) throw differ(part, `"${template.name}" and "${column.name}" are not defined alike`);
  return column;
}

const differ = ({ bus, message }: StoredTable, detail: string): TachographError =>
  new TachographError('TABLES_DIFFER', { bus, message: message.name, detail });

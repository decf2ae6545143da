import type { PhysicalColumn, PhysicalType } from './physical-column.ts';
import { TIME_COLUMN } from './safe-names.ts';

/** Rows are joined to text this many at a time: about 0.5 MB for ten columns. */
const ROWS_PER_CHUNK = 8_192;

/** What a spreadsheet would run when a cell starts with it. Source: OWASP, "CSV Injection". */
const FORMULA_START = /^[=+\-@\t\r\n]/;

/**
 * A text cell: neutralised with a leading apostrophe where a spreadsheet would run it, quoted as
 * RFC 4180 asks. For text only; a number is written as it is, minus sign and all.
 */
export function csvText(text: string): string {
  const inert = FORMULA_START.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}

/** As Parquet has it: a double may be -0, which JavaScript shows as 0, and an integer may not. */
const numberText = (type: PhysicalType, value: number | bigint): string =>
  type === 'double' && Object.is(value, -0) ? '-0' : String(value);

/**
 * A table as RFC 4180 CSV, in chunks: header `time_us,<Signal>,…`; whole µs; numbers in the shortest
 * form that reads back as the same number; nothing between the commas where a value is absent.
 */
export function* csvTable(
  timeUs: Float64Array,
  columns: readonly PhysicalColumn[],
): Generator<Uint8Array> {
  const header = [TIME_COLUMN, ...columns.map((column) => csvText(column.name))].join(',');
  yield Buffer.from(`${header}\r\n`, 'utf8');
  for (let start = 0; start < timeUs.length; start += ROWS_PER_CHUNK) {
    const end = Math.min(start + ROWS_PER_CHUNK, timeUs.length);
    let text = '';
    for (let row = start; row < end; row++) {
      text += String(timeUs[row]);
      for (const { type, values, present } of columns) {
        text += present[row] === 1 ? `,${numberText(type, values[row] ?? 0)}` : ',';
      }
      text += '\r\n';
    }
    yield Buffer.from(text, 'latin1');
  }
}

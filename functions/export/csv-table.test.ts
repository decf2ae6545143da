import fc from 'fast-check';
import { expect, test } from 'vitest';
import { csvTable, csvText } from './csv-table.ts';
import { parquetTable } from './parquet-table.ts';
import { physicalColumn } from './physical-column.ts';
import { columnOf } from './testing/tables.ts';
import { csvCells, hyparquetTable } from './testing/read-tables.ts';

test.each([
  ['SPEED', 'SPEED'],
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', "'\t=1"],
  ['\r=1', '"\'\r=1"'],
  ['=HYPERLINK("http://x","y")', '"\'=HYPERLINK(""http://x"",""y"")"'],
  ['a,b', '"a,b"'],
  ['a"b', '"a""b"'],
  ['a\nb', '"a\nb"'],
  ['a=b', 'a=b'],
])('csvText + %j is written as %j', (text, cell) => {
  expect(csvText(text)).toBe(cell);
});

test('csvText + any text reads back as itself, or with an apostrophe before it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1 }), (text) => {
      const { names } = csvCells(Buffer.from(`x,${csvText(text)}\r\n`));
      const shown = Buffer.from(text).toString();
      expect([shown, `'${shown}`]).toContain(names[1]);
      expect(names[1]).not.toMatch(/^[=+\-@\t\r\n]/);
    }),
  );
});

const text = (...columns: Parameters<typeof csvTable>): string =>
  Buffer.concat([...csvTable(...columns)]).toString();

test('csvTable + names that a spreadsheet would run are neutralised in the header', () => {
  const column = physicalColumn(columnOf('x', [1]), '=cmd|x', 'physical');
  expect(text(Float64Array.of(5), [column])).toBe("time_us,'=cmd|x\r\n5,1\r\n");
});

test('csvTable + numbers are whole µs and the shortest text that reads back, minus sign and all', () => {
  const columns = [
    columnOf('A', [-1, null], { valueType: 'signed' }),
    columnOf('B', [0.1, 1e-7], { valueType: 'float64', bitLength: 64 }),
    columnOf('C', [2n ** 64n - 1n, 0n], { bitLength: 64 }),
    columnOf('D', [2 ** 52 + 1, null], { bitLength: 53 }),
  ].map((column) => physicalColumn(column, column.name, 'physical'));
  expect(text(Float64Array.of(1_700_000_000_000_001, -5), columns)).toBe(
    'time_us,A,B,C,D\r\n' +
      '1700000000000001,-1,0.1,18446744073709551615,4503599627370497\r\n' +
      '-5,,1e-7,0,\r\n',
  );
});

test.each(['quick', 'compact'] as const)(
  'csvTable + -0 of a double is written as such, as Parquet (%s) has it; an integer has none',
  async (effort) => {
    const columns = [
      columnOf('A', [-0, 0], { valueType: 'float64', bitLength: 64 }),
      // 0 * -0.5 + -0 is -0 too; as an integer it is 0 in both formats.
      columnOf('B', [0, 1], { factor: -0.5, offset: -0 }),
      columnOf('C', [0, 1], { factor: -1, offset: -0, bitLength: 32 }),
    ].map((column) => physicalColumn(column, column.name, 'physical'));
    const timeUs = Float64Array.of(1, 2);
    expect(text(timeUs, columns)).toBe('time_us,A,B,C\r\n1,-0,-0,0\r\n2,0,-0.5,-1\r\n');
    const parquet = parquetTable(timeUs, columns, { effort, metadata: [], createdBy: 'test' });
    expect((await hyparquetTable(parquet)).rows).toEqual([
      [1n, -0, -0, 0n],
      [2n, 0, -0.5, -1n],
    ]);
  },
);

test('parquetTable + -0 among repeated zeros is not made 0 by a dictionary, nor 0 made -0', async () => {
  const cells = Array.from({ length: 64 }, (_, row) => (row % 2 === 0 ? 0 : -0));
  for (const values of [cells, cells.map((value) => -value)]) {
    const stored = columnOf('A', values, { valueType: 'float64', bitLength: 64 });
    const column = physicalColumn(stored, 'A', 'physical');
    const timeUs = Float64Array.from(cells.keys());
    const options = { effort: 'compact', metadata: [], createdBy: 'test' } as const;
    const { rows } = await hyparquetTable(parquetTable(timeUs, [column], options));
    expect(rows.map((row) => row[1])).toEqual(values);
  }
});

test('csvTable + more rows than a chunk holds gives chunks that join to the whole', () => {
  const rows = 8_193;
  const counter = Array.from({ length: rows }, (_, row) => row % 256);
  const column = physicalColumn(columnOf('C', counter), 'C', 'physical');
  const chunks = [...csvTable(Float64Array.from(counter), [column])];
  expect(chunks).toHaveLength(3);
  expect(csvCells(Buffer.concat(chunks)).rows.map((row) => Number(row[1]))).toEqual(counter);
});

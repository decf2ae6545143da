import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { RowFile } from './row-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'tachograph-rows-'));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a row is in the file when write returns; at the limit the rest is counted, and nothing follows', () => {
  const path = join(folder, 'rows.ndjson');
  const rows = new RowFile(path, 20);
  rows.write({ a: 1 });
  expect(readFileSync(path, 'utf8')).toBe('{"a":1}\n');
  rows.write({ a: 'too long for what is left' });
  rows.write({ a: 2 });
  expect(readFileSync(path, 'utf8')).toBe('{"a":1}\n');
  expect(rows).toMatchObject({ dropped: 2, reason: 'the file has reached 20 bytes' });
  rows.close();
});

test('a row that cannot be written ends the file: later rows would hide the hole', () => {
  const written: string[] = [];
  const cuts: number[] = [];
  let full = false;
  const rows = new RowFile('x', 1_000, {
    open: () => 1,
    write: (_, bytes) => {
      if (full) throw Object.assign(new Error('full'), { code: 'ENOSPC' });
      written.push(Buffer.from(bytes).toString());
      return bytes.length;
    },
    truncate: (_, bytes) => void cuts.push(bytes),
    close: () => {},
  });
  rows.write(1);
  full = true;
  rows.write(2);
  full = false;
  rows.write(3);
  expect(written).toEqual(['1\n']);
  // What was taken of the row that failed is cut off again.
  expect(cuts).toEqual([2]);
  expect(rows).toMatchObject({ dropped: 2, reason: 'ENOSPC' });
});

test('after close a row counts as missing', () => {
  const rows = new RowFile('x', 1_000, {
    open: () => 1,
    write: () => 0,
    truncate: () => {},
    close: () => {},
  });
  rows.close();
  rows.write(1);
  expect(rows.dropped).toBe(1);
});

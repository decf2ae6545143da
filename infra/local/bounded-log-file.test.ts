import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { BoundedLogFile } from './bounded-log-file.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tachograph-log-'));
  path = join(folder, 'x.log');
});
afterEach(() => rmSync(folder, { recursive: true }));

const text = (file: string): string => readFileSync(file, 'utf8');

test('BoundedLogFile up to its limit keeps one file, one byte more sets it aside', () => {
  const log = new BoundedLogFile(path, 10);
  log.write(Buffer.from('12345'));
  log.write(Buffer.from('67890'));
  expect(text(path)).toBe('1234567890');
  log.write(Buffer.from('a'));
  log.close();
  expect(text(path)).toBe('a');
  expect(text(`${path}.1`)).toBe('1234567890');
});

test('BoundedLogFile goes on with what an earlier process wrote, and counts it', () => {
  writeFileSync(path, '12345678');
  const log = new BoundedLogFile(path, 10);
  log.write(Buffer.from('ab'));
  expect(text(path)).toBe('12345678ab');
  log.write(Buffer.from('c'));
  log.close();
  expect(text(path)).toBe('c');
});

test('BoundedLogFile cuts a piece larger than its limit', () => {
  const log = new BoundedLogFile(path, 4);
  log.write(Buffer.from('123456'));
  log.close();
  expect(text(path)).toBe('1234');
  expect(existsSync(`${path}.1`)).toBe(false);
});

test('BoundedLogFile after close writes nothing; closing again does nothing', () => {
  const log = new BoundedLogFile(path, 4);
  log.close();
  log.close();
  log.write(Buffer.from('x'));
  expect(text(path)).toBe('');
});

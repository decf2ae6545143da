import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { BoundedLogFile, type LogFileSystem } from './bounded-log-file.ts';

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

/** A disk in memory that takes `room` bytes more, and at most `atOnce` with one write. */
class SmallDisk implements LogFileSystem {
  room = Number.POSITIVE_INFINITY;
  atOnce = Number.POSITIVE_INFINITY;
  failing: 'open' | 'rename' | undefined;
  readonly files = new Map<string, string>();
  readonly opened = new Map<number, string>();
  #next = 3;

  open(name: string): number {
    if (this.failing === 'open') throw this.#error('EMFILE');
    this.files.set(name, this.files.get(name) ?? '');
    this.opened.set(this.#next, name);
    return this.#next++;
  }

  size(file: number): number {
    return this.files.get(this.#nameOf(file))?.length ?? 0;
  }

  write(file: number, bytes: Uint8Array): number {
    const name = this.#nameOf(file);
    if (this.room === 0) throw this.#error('ENOSPC');
    const count = Math.min(bytes.length, this.room, this.atOnce);
    this.room -= count;
    this.files.set(name, this.files.get(name) + Buffer.from(bytes).toString().slice(0, count));
    return count;
  }

  rename(from: string, to: string): void {
    if (this.failing === 'rename') throw this.#error('EACCES');
    this.files.set(to, this.files.get(from) ?? '');
    this.files.delete(from);
  }

  close(file: number): void {
    this.#nameOf(file);
    this.opened.delete(file);
  }

  #nameOf(file: number): string {
    const name = this.opened.get(file);
    if (name === undefined) throw this.#error('EBADF');
    return name;
  }

  #error(code: string): Error {
    return Object.assign(new Error(code), { code });
  }
}

const lines = (text = ''): string[] => text.split('\n').slice(0, -1);
const told = (count: number, reason: string): string =>
  `{"level":"error","message":"log lines were dropped","lines":${count},"reason":"${reason}"}`;

test('BoundedLogFile on a full disk drops lines, then goes on and tells how many', () => {
  const disk = new SmallDisk();
  const log = new BoundedLogFile('x', 1_000, disk);
  log.write(Buffer.from('one\n'));
  disk.room = 0;
  log.write(Buffer.from('two\nthree\n'));
  log.write(Buffer.from('four, a part'));
  expect(log.dropped).toBe(3);
  disk.room = 1_000;
  log.write(Buffer.from('five\n'));
  log.write(Buffer.from('six\n'));
  expect(lines(disk.files.get('x'))).toEqual(['one', told(3, 'ENOSPC'), 'five', 'six']);
  expect(log.dropped).toBe(0);
  log.close();
  expect(disk.opened.size).toBe(0);
});

test('BoundedLogFile goes on with the rest of a short write', () => {
  const disk = new SmallDisk();
  disk.atOnce = 3;
  const log = new BoundedLogFile('x', 16, disk);
  log.write(Buffer.from('0123456789\n'));
  log.write(Buffer.from('abcdef\n'));
  expect(disk.files).toEqual(
    new Map([
      ['x.1', '0123456789\n'],
      ['x', 'abcdef\n'],
    ]),
  );
});

test('BoundedLogFile whose line was cut by a full disk goes on in a line of its own', () => {
  const disk = new SmallDisk();
  disk.room = 2;
  const log = new BoundedLogFile('x', 1_000, disk);
  log.write(Buffer.from('one\n'));
  disk.room = 1_000;
  log.write(Buffer.from('two\n'));
  expect(lines(disk.files.get('x'))).toEqual(['on', told(1, 'ENOSPC'), 'two']);
});

test('BoundedLogFile that cannot be set aside, then not opened, drops and recovers', () => {
  const disk = new SmallDisk();
  const log = new BoundedLogFile('x', 100, disk);
  log.write(Buffer.from(`${'a'.repeat(98)}\n`));
  disk.failing = 'rename';
  log.write(Buffer.from('one\n'));
  disk.failing = 'open';
  log.write(Buffer.from('two\n'));
  expect(disk.opened.size).toBe(0);
  disk.failing = undefined;
  log.write(Buffer.from('three\n'));
  expect(lines(disk.files.get('x'))).toEqual([told(2, 'EMFILE'), 'three']);
  expect(disk.opened.size).toBe(1);
});

test('BoundedLogFile that is closed before it recovered tells the count if it can', () => {
  const disk = new SmallDisk();
  disk.room = 0;
  const log = new BoundedLogFile('x', 1_000, disk);
  log.write(Buffer.from('one\n'));
  disk.room = 1_000;
  log.close();
  expect(lines(disk.files.get('x'))).toEqual([told(1, 'ENOSPC')]);
});

test('BoundedLogFile whose path is a folder at first starts when it is none any more', () => {
  mkdirSync(path);
  const log = new BoundedLogFile(path, 1_000);
  log.write(Buffer.from('one\n'));
  rmdirSync(path);
  log.write(Buffer.from('two\n'));
  log.close();
  expect(lines(text(path))).toEqual([told(1, 'EISDIR'), 'two']);
});

test.skipIf(!existsSync('/dev/full'))('BoundedLogFile on /dev/full does not throw', () => {
  const log = new BoundedLogFile('/dev/full', 1_000);
  log.write(Buffer.from('one\n'));
  expect(log.dropped).toBe(1);
  log.close();
});

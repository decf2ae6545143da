import fc from 'fast-check';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CanFrame } from './can-frame.ts';
import type { CanLogOptions } from './can-log-reader.ts';
import { CanLogReader, MAX_KEPT_FAULTS, MAX_LINE_LENGTH } from './can-log-reader.ts';
import { readCanLog } from './read-can-log.ts';

const DRIVE = new URL('../../../examples/drive/drive-60s.candump.gz', import.meta.url).pathname;

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tachograph-canlog-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

// oxlint-disable-next-line typescript/require-await
async function* chunked(text: string, size: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < text.length; start += size) {
    yield Buffer.from(text.slice(start, start + size), 'latin1');
  }
}

async function read(text: string, size = 7, options: CanLogOptions = {}) {
  const reader = new CanLogReader(chunked(text, size), options);
  const frames: CanFrame[] = [];
  for await (const frame of reader) frames.push(frame);
  const { faults, faultCount, frameCount } = reader;
  expect(frameCount).toBe(frames.length);
  return { frames, faults, faultCount };
}

const line = (second: number): string => `(${second}.000000) can0 123#0${second % 10}\n`;

test('readCanLog of the recorded drive gives its 98,800 frames and no fault', async () => {
  const reader = readCanLog(DRIVE);
  const buses = new Map<string, number>();
  for await (const { bus } of reader) buses.set(bus, (buses.get(bus) ?? 0) + 1);
  expect([...buses]).toEqual([
    ['can0', 53_800],
    ['can1', 45_000],
  ]);
  expect(reader.faultCount).toBe(0);
});

test('readCanLog knows gzip by its bytes, whatever the name', async () => {
  const plain = join(folder, 'plain.gz');
  const packed = join(folder, 'packed.log');
  await writeFile(plain, line(1) + line(2));
  await writeFile(packed, gzipSync(line(1) + line(2)));
  for (const path of [plain, packed]) {
    const reader = readCanLog(path);
    let frames = 0;
    for await (const frame of reader) frames += frame.data.length;
    expect([frames, reader.faults]).toEqual([2, []]);
  }
});

test('readCanLog of an empty file has no frame and no fault', async () => {
  const path = join(folder, 'empty');
  await writeFile(path, '');
  const reader = readCanLog(path);
  expect((await reader[Symbol.asyncIterator]().next()).done).toBe(true);
  expect(reader.faultCount).toBe(0);
});

test('readCanLog of a missing file rejects with the system error', async () => {
  const next = readCanLog(join(folder, 'missing'))[Symbol.asyncIterator]().next();
  await expect(next).rejects.toThrow('ENOENT');
});

test('readCanLog can be left early', async () => {
  for await (const frame of readCanLog(DRIVE)) {
    expect(frame.bus).toBe('can0');
    break;
  }
});

test('readCanLog of a torn gzip keeps the frames before and reports the rest', async () => {
  const whole = await readFile(DRIVE);
  const path = join(folder, 'torn.gz');
  await writeFile(path, whole.subarray(0, whole.length / 2));
  const reader = readCanLog(path);
  let frames = 0;
  for await (const frame of reader) frames += frame.timeUs > 0 ? 1 : 0;
  expect(frames).toBeGreaterThan(40_000);
  expect(reader.faults).toEqual([
    { line: frames + 1, reason: 'the compressed log is damaged or torn: unexpected end of file' },
  ]);
});

test('readCanLog of a gzip with a damaged middle keeps the frames before', async () => {
  const whole = Buffer.from(await readFile(DRIVE));
  whole.fill(0xff, 400_000, 400_100);
  const path = join(folder, 'damaged.gz');
  await writeFile(path, whole);
  const reader = readCanLog(path);
  for await (const { bus } of reader) expect(bus.length).toBe(4);
  expect(reader.faults.at(-1)?.reason).toContain('damaged or torn');
});

test('CanLogReader reports a torn last line and does not use it', async () => {
  const { frames, faults } = await read(`${line(1)}${line(2)}(3.000000) can0 123#0102`);
  expect(frames).toHaveLength(2);
  expect(faults).toEqual([{ line: 3, reason: 'torn last line: "(3.000000) can0 123#0102"' }]);
});

test('CanLogReader reports bad lines by number and keeps all others', async () => {
  const { frames, faults } = await read(`${line(1)}nonsense\n${line(2)}\n(x) can0 1#\n${line(3)}`);
  expect(frames.map(({ timeUs }) => timeUs)).toEqual([1_000_000, 2_000_000, 3_000_000]);
  expect(faults.map((fault) => fault.line)).toEqual([2, 5]);
});

test('CanLogReader counts all faults and keeps the first 100', async () => {
  const { faults, faultCount } = await read('bad\n'.repeat(250));
  expect(faults).toHaveLength(MAX_KEPT_FAULTS);
  expect(faultCount).toBe(250);
});

test.each([5, 1_000, 100_000])(
  'CanLogReader skips a line longer than the limit, in chunks of %i bytes',
  async (size) => {
    const long = `${'x'.repeat(10 * MAX_LINE_LENGTH)}\n`;
    const { frames, faults } = await read(line(1) + long + line(2), size);
    expect(frames).toHaveLength(2);
    expect(faults).toEqual([{ line: 2, reason: 'longer than 1024 characters' }]);
  },
);

test('CanLogReader reports a too long torn last line once', async () => {
  const { faults } = await read(line(1) + 'x'.repeat(10 * MAX_LINE_LENGTH), 1_000);
  expect(faults).toEqual([{ line: 2, reason: 'longer than 1024 characters' }]);
});

const SCREEN = ' (000.500000)  can0  123   [0]\n (000.250000)  can0  123   [0]\n';

test('CanLogReader sums up delta times of screen lines, and leaves log lines alone', async () => {
  const { frames } = await read(SCREEN + line(9), 7, { screenTime: 'delta' });
  expect(frames.map(({ timeUs }) => timeUs)).toEqual([500_000, 750_000, 9_000_000]);
});

test('CanLogReader gives screen times as written by default', async () => {
  const { frames } = await read(SCREEN);
  expect(frames.map(({ timeUs }) => timeUs)).toEqual([500_000, 250_000]);
});

test('CanLogReader passes on failures of its source', async () => {
  // oxlint-disable-next-line typescript/require-await
  async function* failing(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(line(1));
    throw new Error('disk on fire');
  }
  const iterator = new CanLogReader(failing())[Symbol.asyncIterator]();
  await iterator.next();
  await expect(iterator.next()).rejects.toThrow('disk on fire');
});

test('CanLogReader gives the same frames whatever the chunks', async () => {
  const text = gunzipSync(await readFile(DRIVE))
    .toString('latin1')
    .slice(0, 4_000);
  const whole = await read(text, text.length);
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 200 }), async (size) => {
      expect(await read(text, size)).toEqual(whole);
    }),
    { numRuns: 20 },
  );
});

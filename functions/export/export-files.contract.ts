import { expect, test } from 'vitest';
import { sha256Hex } from '#kernel/system/sha256.ts';
import type { ExportFiles } from './export-files.ts';
import type { ExportUnit } from './export-unit.ts';

const part = (window: number, revision = 1): ExportUnit => ({
  vehicle: 'v1',
  session: 's1',
  window,
  revision,
});
const whole = (revision: number): ExportUnit => ({
  vehicle: 'v1',
  session: 's1',
  window: null,
  revision,
});
const wanted = async (): Promise<boolean> => true;
const bytesOf = (text: string): Uint8Array => Buffer.from(text);

async function write(
  files: ExportFiles,
  unit: ExportUnit,
  contents: Readonly<Record<string, Uint8Array>>,
): Promise<void> {
  const writer = await files.begin(unit);
  for (const [name, bytes] of Object.entries(contents)) await writer.add(name, [bytes]);
  expect(await writer.publish(wanted)).toBe(true);
}

async function read(
  files: ExportFiles,
  path: string,
  start = 0,
  end?: number,
): Promise<string | undefined> {
  const file = await files.open(path);
  if (file === undefined) return undefined;
  const pieces: Uint8Array[] = [];
  for await (const piece of file.read(start, end ?? file.bytes)) pieces.push(piece);
  await file.close();
  return Buffer.concat(pieces).toString();
}

const paths = async (files: ExportFiles, limit = 100): Promise<string[]> =>
  (await files.list('v1', 's1', limit)).map(({ path }) => path);

const PART = 'v1/s1/parts/00000007-0001';

/** What every keeper of exported files must do. */
export function exportFilesContract(name: string, create: () => Promise<ExportFiles>): void {
  test(`${name} + a unit that is not published shows nothing`, async () => {
    const files = await create();
    const writer = await files.begin(part(7));
    await writer.add('recorded/can0-A.csv', [bytesOf('a')]);
    expect(await paths(files)).toEqual([]);
    expect(await files.open(`${PART}/recorded/can0-A.csv`)).toBeUndefined();
    await writer.discard();
    expect(await paths(files)).toEqual([]);
  });

  test(`${name} + a unit no longer wanted shows nothing and says so`, async () => {
    const files = await create();
    const writer = await files.begin(whole(1));
    await writer.add('recorded/can0-A.csv', [bytesOf('a')]);
    expect(await writer.publish(async () => false)).toBe(false);
    expect(await paths(files)).toEqual([]);
  });

  test(`${name} + a published part is read back with path, size and hash`, async () => {
    const files = await create();
    const writer = await files.begin(part(7));
    const written = await writer.add('recorded/can0-A.csv', [bytesOf('ab'), bytesOf('cd')]);
    const sha256 = sha256Hex('abcd');
    expect(written).toEqual({ path: `${PART}/recorded/can0-A.csv`, sha256, bytes: 4 });
    await writer.add('raster/can0-A.csv', []);
    await writer.publish(wanted);
    await writer.discard();
    expect(await files.list('v1', 's1', 100)).toEqual([
      { path: `${PART}/raster/can0-A.csv`, bytes: 0 },
      { path: `${PART}/recorded/can0-A.csv`, bytes: 4 },
    ]);
    const file = await files.open(written.path);
    expect(file).toMatchObject({ bytes: 4, sha256 });
    await file?.close();
    expect(await read(files, written.path)).toBe('abcd');
    expect(await read(files, written.path, 1, 3)).toBe('bc');
    expect(await read(files, `${PART}/raster/can0-A.csv`)).toBe('');
  });

  test(`${name} + files of several megabytes are read back over chunk borders`, async () => {
    const files = await create();
    const long = Buffer.alloc(2_500_000, '0123456789');
    const name = 'recorded/can0-LONG.csv';
    await write(files, whole(1), { 'recorded/can0-A.csv': bytesOf('abc'), [name]: long });
    expect(await read(files, `v1/s1/${name}`)).toBe(long.toString());
    // The unit's chunk ends 1,048,576 bytes in: at 1,048,573 of the second file.
    expect(await read(files, `v1/s1/${name}`, 1_048_570, 1_048_576)).toBe('012345');
    expect(await read(files, `v1/s1/${name}`, 2_499_999, 2_500_000)).toBe('9');
  });

  test(`${name} + a part published again replaces its bytes`, async () => {
    const files = await create();
    await write(files, part(7), { 'recorded/can0-A.csv': bytesOf('one') });
    await write(files, part(7), { 'recorded/can0-A.csv': bytesOf('two') });
    expect(await read(files, `${PART}/recorded/can0-A.csv`)).toBe('two');
    await write(files, part(7), { 'recorded/can0-A.csv': bytesOf('one') });
    expect(await read(files, `${PART}/recorded/can0-A.csv`)).toBe('one');
  });

  test(`${name} + a later revision of the session replaces the earlier one whole`, async () => {
    const files = await create();
    await write(files, whole(1), {
      'recorded/can0-A.csv': bytesOf('a1'),
      'recorded/can0-B.csv': bytesOf('b1'),
      'session.json': bytesOf('{}'),
    });
    await write(files, whole(2), {
      'recorded/can0-A.csv': bytesOf('a2'),
      'session.json': bytesOf('{"revision":2}'),
    });
    expect(await paths(files)).toEqual(['v1/s1/recorded/can0-A.csv', 'v1/s1/session.json']);
    expect(await read(files, 'v1/s1/recorded/can0-A.csv')).toBe('a2');
    expect(await files.open('v1/s1/recorded/can0-B.csv')).toBeUndefined();
  });

  test(`${name} + a file that is open keeps its bytes while it is replaced`, async () => {
    const files = await create();
    await write(files, part(7), { 'recorded/can0-A.csv': bytesOf('old') });
    const file = await files.open(`${PART}/recorded/can0-A.csv`);
    await write(files, part(7), { 'recorded/can0-A.csv': bytesOf('newer') });
    const pieces: Uint8Array[] = [];
    for await (const piece of file?.read(0, 3) ?? []) pieces.push(piece);
    await file?.close();
    expect(Buffer.concat(pieces).toString()).toBe('old');
  });

  test(`${name} + removing parts takes the chosen ones and leaves the session's files`, async () => {
    const files = await create();
    await write(files, part(1), { 'recorded/can0-A.csv': bytesOf('1') });
    await write(files, part(1, 2), { 'recorded/can0-A.csv': bytesOf('2') });
    await write(files, part(2), { 'recorded/can0-A.csv': bytesOf('3') });
    await write(files, whole(1), { 'recorded/can0-A.csv': bytesOf('123') });
    await files.removeParts('v1', 's1', (window, revision) => window === 2 || revision === 1);
    expect(await paths(files)).toEqual([
      'v1/s1/parts/00000001-0002/recorded/can0-A.csv',
      'v1/s1/recorded/can0-A.csv',
    ]);
    await files.removeParts('v1', 's1', () => true);
    expect(await paths(files)).toEqual(['v1/s1/recorded/can0-A.csv']);
    await files.removeParts('v1', 's1', () => true);
  });

  test(`${name} + two writers of one unit at once leave one whole unit`, async () => {
    const files = await create();
    const texts = Array.from({ length: 4 }, () => 'the same bytes');
    await Promise.all(
      texts.map((text) =>
        write(files, whole(1), {
          'recorded/can0-A.csv': bytesOf(text),
          'session.json': bytesOf('{}'),
        }),
      ),
    );
    expect(await paths(files)).toEqual(['v1/s1/recorded/can0-A.csv', 'v1/s1/session.json']);
    expect(await read(files, 'v1/s1/recorded/can0-A.csv')).toBe('the same bytes');
  });

  test(`${name} + a list stops at its limit, other sessions and names find nothing`, async () => {
    const files = await create();
    await write(files, whole(1), {
      'recorded/can0-A.csv': bytesOf('a'),
      'session.json': bytesOf('{}'),
    });
    expect(await paths(files, 1)).toEqual(['v1/s1/recorded/can0-A.csv']);
    expect(await files.list('v1', 's2', 100)).toEqual([]);
    for (const path of [
      'v1/s1/recorded',
      'v1/s1/recorded/can0-B.csv',
      'v1/s2/session.json',
      PART,
    ]) {
      expect(await files.open(path)).toBeUndefined();
    }
  });
}

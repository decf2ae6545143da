import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { VirtualClock } from '#kernel/core/clock.ts';
import { exportFilesContract } from './export-files.contract.ts';
import { FolderFiles } from './folder-files.ts';
import { thisProcess } from './writer-process.ts';

const parent = mkdtempSync(join(tmpdir(), 'tachograph-files-'));
afterAll(() => rmSync(parent, { recursive: true, force: true }));

const newRoot = (): string => mkdtempSync(join(parent, 'root-'));

exportFilesContract('FolderFiles', async () => new FolderFiles(newRoot(), new VirtualClock()));

const UNIT = { vehicle: 'v1', session: 's1', window: null, revision: 1 };

test('FolderFiles + a symbolic link in place of a file is not followed', async () => {
  const root = newRoot();
  mkdirSync(join(root, 'v1/s1'), { recursive: true });
  writeFileSync(join(root, 'secret'), 'x');
  symlinkSync(join(root, 'secret'), join(root, 'v1/s1/session.json'));
  const files = new FolderFiles(root, new VirtualClock());
  expect(await files.open('v1/s1/session.json')).toBeUndefined();
});

/** Makes a folder with a file in it, both last changed `ageS` ago. */
function leave(root: string, name: string, clock: VirtualClock, ageS: number): void {
  const folder = join(root, '+unpublished', name);
  mkdirSync(join(folder, 'recorded'), { recursive: true });
  writeFileSync(join(folder, 'recorded/a.csv'), '');
  const atS = clock.nowMs() / 1_000 - ageS;
  for (const path of ['recorded/a.csv', 'recorded', '.']) utimesSync(join(folder, path), atS, atS);
}

const leftIn = (root: string): string[] => readdirSync(join(root, '+unpublished'));

test('FolderFiles + a process of another place: its folder goes after ten minutes', async () => {
  const root = newRoot();
  const clock = new VirtualClock();
  leave(root, 'unit-other-1-old', clock, 601);
  leave(root, 'unit-other-1-new', clock, 599);
  leave(root, 'unit-other-1-busy', clock, 601);
  const nowS = clock.nowMs() / 1_000;
  utimesSync(join(root, '+unpublished/unit-other-1-busy/recorded/a.csv'), nowS, nowS);
  const files = new FolderFiles(root, clock);
  const writer = await files.begin(UNIT);
  expect(leftIn(root)).not.toContain('unit-other-1-old');
  expect(leftIn(root)).toEqual(
    expect.arrayContaining(['unit-other-1-new', 'unit-other-1-busy']) as string[],
  );
  await clock.advance(600_000);
  const second = await files.begin(UNIT);
  expect(leftIn(root)).not.toContain('unit-other-1-new');
  await Promise.all([writer.discard(), second.discard()]);
});

test('FolderFiles + a process of this place that was killed: its folder goes at once', async () => {
  const root = newRoot();
  const clock = new VirtualClock();
  // A child that has ended and been waited for: its process id is nobody's.
  const { pid } = spawnSync(process.execPath, ['--version']);
  const here = thisProcess().prefix.replace(/\d+-$/, '');
  leave(root, `${here}${pid}-dead`, clock, 1);
  leave(root, `${here}${process.ppid}-alive`, clock, 1);
  const mine = await new FolderFiles(root, clock).begin(UNIT);
  await mine.add('recorded/a.csv', [Buffer.from('a')]);
  const replica = await new FolderFiles(root, clock).begin(UNIT);
  expect(leftIn(root)).not.toContain(`${here}${pid}-dead`);
  expect(leftIn(root)).toContain(`${here}${process.ppid}-alive`);
  expect(await mine.publish(async () => true)).toBe(true);
  await replica.discard();
});

test('FolderFiles + a name given twice in a unit is a failure and not a silent loss', async () => {
  const writer = await new FolderFiles(newRoot(), new VirtualClock()).begin(UNIT);
  await writer.add('recorded/can0-A.csv', [Buffer.from('a')]);
  await expect(writer.add('recorded/can0-A.csv', [Buffer.from('b')])).rejects.toMatchObject({
    code: 'FILES_UNAVAILABLE',
    message: expect.stringContaining('EEXIST'),
  });
  await writer.discard();
});

test('FolderFiles + a root that is a file asks to try again and names the cause', async () => {
  const root = join(newRoot(), 'file');
  writeFileSync(root, '');
  const files = new FolderFiles(root, new VirtualClock());
  await expect(files.begin(UNIT)).rejects.toMatchObject({
    code: 'FILES_UNAVAILABLE',
    kind: 'retry',
    message: expect.stringMatching(/ENOTDIR|EEXIST/),
  });
  expect(await files.list('v1', 's1', 10)).toEqual([]);
});

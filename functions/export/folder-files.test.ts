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

test('FolderFiles + a killed process: its folder goes after an hour, a younger one stays', async () => {
  const root = newRoot();
  const clock = new VirtualClock();
  for (const [name, ageS] of [
    ['unit-old', 3_601],
    ['unit-new', 3_599],
  ] as const) {
    const folder = join(root, '+unpublished', name);
    mkdirSync(folder, { recursive: true });
    const atS = clock.nowMs() / 1_000 - ageS;
    utimesSync(folder, atS, atS);
  }
  const writer = await new FolderFiles(root, clock).begin(UNIT);
  expect(readdirSync(join(root, '+unpublished'))).not.toContain('unit-old');
  expect(readdirSync(join(root, '+unpublished'))).toContain('unit-new');
  await writer.discard();
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

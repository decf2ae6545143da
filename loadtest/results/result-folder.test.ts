import { mkdir, mkdtemp, readdir, readFile, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  createResultFolder,
  INVALID_FILE,
  markInvalid,
  MAX_NAMESAKES,
  publishResult,
} from './result-folder.ts';

const NOW_MS = Date.UTC(2026, 0, 5, 8, 7, 6);
const NAME = '2026-01-05T08-07-06-demo';

let results = '';
beforeEach(async () => {
  results = join(await mkdtemp(join(tmpdir(), 'tachograph-results-')), 'results');
});
afterEach(() => rm(join(results, '..'), { recursive: true }));

test('createResultFolder: named by time, marked INVALID; a second one in the same second', async () => {
  const first = await createResultFolder(results, 'demo', NOW_MS);
  const second = await createResultFolder(results, 'demo', NOW_MS);
  expect([first, second].map((folder) => basename(folder))).toEqual([NAME, `${NAME}-2`]);
  expect(await readdir(first)).toEqual([INVALID_FILE]);
});

test('createResultFolder with every name of the second taken: rejects', async () => {
  await mkdir(join(results, NAME), { recursive: true });
  for (let copy = 2; copy <= MAX_NAMESAKES; copy++) await mkdir(join(results, `${NAME}-${copy}`));
  await expect(createResultFolder(results, 'demo', NOW_MS)).rejects.toThrow(
    `${MAX_NAMESAKES} results`,
  );
});

test('publishResult: latest points at the newest, the mark is gone', async () => {
  const first = await createResultFolder(results, 'demo', NOW_MS);
  const second = await createResultFolder(results, 'demo', NOW_MS + 1_000);
  await publishResult(first);
  const latest = await publishResult(second);
  expect(latest).toBe(join(results, 'latest'));
  expect(await readlink(latest)).toBe(basename(second));
  expect(await readdir(second)).toEqual([]);
  expect((await readdir(results)).filter((name) => name.startsWith('.'))).toEqual([]);
});

test('markInvalid: the reason is in the folder, latest stays where it was', async () => {
  const first = await createResultFolder(results, 'demo', NOW_MS);
  await publishResult(first);
  const second = await createResultFolder(results, 'demo', NOW_MS + 1_000);
  await markInvalid(second, 'Interrupted');
  expect(await readFile(join(second, INVALID_FILE), 'utf8')).toBe('Interrupted\n');
  expect(await readlink(join(results, 'latest'))).toBe(basename(first));
});

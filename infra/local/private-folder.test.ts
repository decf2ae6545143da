import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makePrivateFolder } from './private-folder.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tachograph-private-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const modeOf = (path: string): number => statSync(path).mode & 0o777;

test('makePrivateFolder makes what is missing for its owner alone', async () => {
  await makePrivateFolder(join(folder, 'data', 'logs'));
  expect(modeOf(join(folder, 'data'))).toBe(0o700);
  expect(modeOf(join(folder, 'data', 'logs'))).toBe(0o700);
});

test('makePrivateFolder leaves a folder that is there as it is', async () => {
  const there = join(folder, 'there');
  mkdirSync(there);
  chmodSync(there, 0o755);
  await makePrivateFolder(there);
  await makePrivateFolder(join(there, 'new'));
  expect(modeOf(there)).toBe(0o755);
  expect(modeOf(join(there, 'new'))).toBe(0o700);
});

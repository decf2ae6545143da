import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { removeSocket, socketPathOf } from './socket-path.ts';

test.each([
  ['no folder', undefined, 'export-0', 1, null],
  ['a folder', '/tmp/x', 'export-0', 2, '/tmp/x/export-0.2.sock'],
  ['the longest', `/${'f'.repeat(86)}`, 'export-0', 1, `/${'f'.repeat(86)}/export-0.1.sock`],
  ['a byte too long', `/${'f'.repeat(87)}`, 'export-0', 1, null],
])('socketPathOf with %s', (_name, folder, replica, attempt, path) => {
  expect(socketPathOf(folder, replica, attempt)).toBe(path);
});

test('removeSocket removes what is left, or nothing', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tachograph-socket-'));
  const path = join(folder, 'a.sock');
  writeFileSync(path, '');
  removeSocket(path);
  removeSocket(path);
  expect(existsSync(path)).toBe(false);
  rmSync(folder, { recursive: true });
});

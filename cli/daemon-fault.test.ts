import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { daemonFault } from './daemon-fault.ts';

let path: string;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tachograph-fault-'));
  path = join(folder, 'daemon.log');
});
afterEach(() => rmSync(folder, { recursive: true }));

test('daemonFault names the error that the log begins its stack with', () => {
  const error = 'Error: ENOSPC: no space left on device, write';
  writeFileSync(path, `node:fs:971\n  throw\n  ^\n\n${error}\n    at writeSync (node:fs:971:3)\n`);
  expect(daemonFault(1, path)).toBe(`it ended with code 1: ${error}; see ${path}`);
});

test('daemonFault of an empty log names the log, of none why it cannot be read', () => {
  writeFileSync(path, '');
  expect(daemonFault(null, path)).toBe(`it ended with code ?; see ${path}`);
  expect(daemonFault(1, join(folder, 'none'))).toContain('ENOENT');
});

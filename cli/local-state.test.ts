import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { must } from '#kernel/core/assert.ts';
import { sha256Hex } from '#kernel/system/sha256.ts';
import { engineerToken } from './engineer-token.ts';
import { readLocalState, writeLocalState, type LocalState } from './local-state.ts';
import { processIdentity, startTicks } from './process-identity.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'tachograph-home-'));
});
afterEach(() => rmSync(home, { recursive: true }));

const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8);

async function ownState(over: Partial<LocalState> = {}): Promise<LocalState> {
  return {
    pid: process.pid,
    identity: must(await processIdentity(process.pid), 'own identity'),
    gatewayUrl: 'http://127.0.0.1:1',
    brokerUrl: 'http://127.0.0.1:2/a/b',
    spansUrl: null,
    spansDir: '/data/traces',
    natsUrl: 'nats://127.0.0.1:3',
    services: ['campaign'],
    dataDir: '/data',
    storeUrl: 'sqlite:/data/store.sqlite',
    tokenFile: '/token',
    ...over,
  };
}

test('readLocalState gives what writeLocalState wrote, which only its owner may read', async () => {
  const state = await ownState();
  await writeLocalState(home, state);
  expect(await readLocalState(home)).toEqual(state);
  expect(mode(join(home, 'local.json'))).toBe('600');
});

test('readLocalState without a file is undefined', async () => {
  expect(await readLocalState(home)).toBeUndefined();
});

test('readLocalState of a process that has gone, or of another with its id, removes it', async () => {
  for (const over of [{ identity: 'earlier' }, { pid: 2 ** 22 + 1 }]) {
    await writeLocalState(home, await ownState(over));
    expect(await readLocalState(home)).toBeUndefined();
    expect(existsSync(join(home, 'local.json'))).toBe(false);
  }
});

test('processIdentity of a running process stays the same, of none it is undefined', async () => {
  expect(await processIdentity(process.pid)).toBe(await processIdentity(process.pid));
  expect(await processIdentity(2 ** 22 + 1)).toBeUndefined();
});

test('startTicks finds field 22 behind a name with spaces and brackets', () => {
  const rest = Array.from({ length: 30 }, (_, index) => String(index + 4)).join(' ');
  expect(startTicks(`7 (a) b) S ${rest}`)).toBe('22');
  expect(startTicks(`7 (zombie) Z ${rest}`)).toBeUndefined();
});

test('engineerToken makes a secret once, readable by its owner alone', async () => {
  const made = await engineerToken(home);
  expect(made.token).toMatch(/^[\w-]{43}$/);
  expect(made.sha256).toBe(sha256Hex(made.token));
  expect(mode(made.file)).toBe('600');
  expect(await engineerToken(home)).toEqual(made);
  writeFileSync(made.file, 'chosen by hand\n');
  expect((await engineerToken(home)).token).toBe('chosen by hand');
  expect(readFileSync(made.file, 'utf8')).toBe('chosen by hand\n');
});

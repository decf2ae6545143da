import { fork, type ChildProcess } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
} from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventType } from '#eventing/contracts/catalog.ts';
import { readListeningMessage } from '#kernel/core/listening-message.ts';
import { systemClock } from '#kernel/system/system-clock.ts';
import { ensureBundles } from './ensure-bundles.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const PROCESSING = 'functions/data-processing/main.ts';
const EXPORT = 'functions/export/main.ts';
/** Inside the repository: a bundle finds there what is served from packages. */
let folder = '';
const runs = mkdtempSync(join(tmpdir(), 'tachograph-bundle-'));
let programs: ReadonlyMap<string, string> = new Map();
const children: ChildProcess[] = [];
const notes: string[] = [];

const make = (entries: readonly string[], noted: string[] = []) =>
  ensureBundles(root, entries, {
    clock: systemClock,
    node: process.execPath,
    nodeVersion: process.version,
    folder,
    onNote: (line) => noted.push(line),
  });

beforeAll(async () => {
  mkdirSync(join(root, '.tachograph'), { recursive: true });
  folder = mkdtempSync(join(root, '.tachograph', 'bundle-test-'));
  programs = await make([PROCESSING, EXPORT], notes);
});
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  for (const path of [folder, runs]) rmSync(path, { recursive: true, force: true });
});

const programOf = (entry: string): string => join(root, programs.get(entry) ?? 'absent');

async function start(entry: string, env: Readonly<Record<string, string>> = {}) {
  const place = mkdtempSync(join(runs, 'run-'));
  const child = fork(programOf(entry), [], {
    env: {
      LISTEN_SOCKET: join(place, 's'),
      STORE_URL: `sqlite:${join(place, 'store.db')}`,
      ENGINEER_TOKEN_SHA256: 'a'.repeat(64),
      ...env,
    },
    execArgv: [],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  children.push(child);
  let said = '';
  child.stderr?.on('data', (piece: Buffer) => (said += piece.toString()));
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const message = await new Promise((resolve, reject) => {
    child.once('message', resolve);
    void ended.then(() => reject(new Error(said)));
  });
  const { address } = readListeningMessage(message) ?? {};
  const ask = (path: string, headers: Record<string, string> = {}, body?: string) =>
    new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
      const method = body === undefined ? 'GET' : 'POST';
      const call = request({ ...address, path, method, headers, agent: false }, (answer) => {
        let text = '';
        answer.on('data', (piece: Buffer) => (text += piece.toString()));
        answer.on('end', () => resolve({ status: answer.statusCode, body: text }));
      });
      call.once('error', reject);
      call.end(body);
    });
  return { ask, ended, stop: () => child.kill('SIGTERM') };
}

const EVENT = {
  'ce-specversion': '1.0',
  'ce-id': 'data-provider/v1/s1/00000000/0001',
  'ce-source': '/tachograph/data-provider',
  'ce-type': eventType('window.ready.v1'),
  'content-type': 'application/json',
};
const DATA = JSON.stringify({ vehicle: 'v1', session: 's1', window: 0, revision: 1 });

test('a bundle was run beforehand: the code of what a first request needs is kept, and used', () => {
  expect(notes).toEqual([`Bundling ${PROCESSING}`, `Bundling ${EXPORT}`]);
  const files = readdirSync(dirname(programOf(PROCESSING)));
  expect(files).toContain('main.cjs.code');
  expect(files.some((name) => /sqlite.*\.cjs\.code$/.test(name))).toBe(true);
  // What it does not need stays on the disk.
  expect(files.some((name) => /mongo.*\.cjs$/.test(name))).toBe(true);
  expect(files.some((name) => /mongo.*\.cjs\.code$/.test(name))).toBe(false);
  expect(readFileSync(join(dirname(programOf(PROCESSING)), 'main.cjs'), 'utf8')).not.toContain(
    'MongoClient',
  );
});

test('a bundle is used again as long as its sources are the same', async () => {
  const again: string[] = [];
  expect(await make([EXPORT, PROCESSING], again)).toEqual(programs);
  expect(again).toEqual([]);
});

test('a bundled stage takes events, stores, and ends in order', async () => {
  const { ask, ended, stop } = await start(PROCESSING);
  // There is no such window: it is parked, in SQLite.
  expect((await ask('/', EVENT, DATA)).status).toBe(204);
  stop();
  expect(await ended).toBe(0);
});

test.each(['inline', 'workers:1'])('a bundled stage executes demands (%s)', async (placement) => {
  const { ask } = await start(PROCESSING, {
    DEMAND: 'cpuTime:2ms@before',
    DEMAND_PLACEMENT: placement,
  });
  expect((await ask('/', EVENT, DATA)).status).toBe(204);
  const bursts = JSON.parse((await ask('/bursts')).body) as { newest: number };
  expect(bursts.newest).toBe(1);
});

test('a bundled stage serves its routes, their description and the page’s files', async () => {
  const { ask } = await start(EXPORT);
  expect((await ask('/v1/datasets/v1')).status).toBe(401);
  const described = JSON.parse((await ask('/openapi.json')).body) as { paths: object };
  expect(Object.keys(described.paths)).toContain('/v1/datasets/{vehicle}');
  const { status, body } = await ask('/docs/swagger-ui.css');
  expect(status).toBe(200);
  expect(body).toContain('.swagger-ui');
});

test.each([
  ['waits.ts', 'top-level await'],
  ['asks-its-place.ts', 'import.meta'],
])('a program that is another one in a bundle is refused: %s', async (name, detail) => {
  const entry = `infra/bundle/fixtures/${name}`;
  const making = make([entry]);
  await expect(making).rejects.toMatchObject({ code: 'BUNDLE_FAILED', fields: { entry } });
  await expect(making).rejects.toThrow(detail);
});

test('a program that cannot be run beforehand is bundled all the same, with a note why', async () => {
  const entry = 'infra/bundle/fixtures/ends.ts';
  const noted: string[] = [];
  const made = await make([entry], noted);
  expect(noted[1]).toContain(`${entry} could not be run beforehand`);
  expect(noted[1]).toContain('no, thank you');
  expect(existsSync(join(root, made.get(entry) ?? ''))).toBe(true);
});

test('of older bundles the two that were used last are kept', async () => {
  for (const [index, name] of ['old-1', 'old-2', 'old-3'].entries()) {
    mkdirSync(join(folder, name));
    utimesSync(join(folder, name), index, index);
  }
  await make([EXPORT]);
  const current = basename(dirname(dirname(programOf(EXPORT))));
  expect(readdirSync(folder).toSorted()).toEqual([current, 'old-2', 'old-3'].toSorted());
});

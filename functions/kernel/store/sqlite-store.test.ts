import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, test } from 'vitest';
import { VirtualClock } from '../core/clock.ts';
import { systemClock } from '../system/system-clock.ts';
import { openStore } from './open-store.ts';
import { sharedStoreContract } from './shared-store.contract.ts';
import { prepareDatabase, SCHEMA_VERSION } from './sqlite-schema.ts';
import { BUSY_WAIT_MS, MAX_WAITING_INSERTS, SqliteStore } from './sqlite-store.ts';
import { storeContract } from './store.contract.ts';

const folder = mkdtempSync(join(tmpdir(), 'tachograph-store-'));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
const freshPath = (): string => join(folder, `deep/${files++}/store.db`);
const freshUrl = (): string => `sqlite:${freshPath()}`;

storeContract('sqlite', () => openStore(freshUrl(), systemClock));
sharedStoreContract('sqlite', freshUrl);

/** A store on a connection that the test also holds, and a second connection to the same file. */
function openByHand(path: string, clock = new VirtualClock()) {
  const database = new DatabaseSync(path, { timeout: 0 });
  prepareDatabase(database, path);
  const other = new DatabaseSync(path, { timeout: 0 });
  return { store: new SqliteStore(database, path, clock), database, other, clock };
}

test('openStore + a file that exists finds what an earlier process stored', async () => {
  const url = freshUrl();
  const first = await openStore(url, systemClock);
  await first.insert('audit', 'a', { n: 1 });
  await first.close();
  const second = await openStore(url, systemClock);
  expect(await second.get('audit', 'a')).toEqual({ n: 1 });
  await second.close();
});

test('openStore + a file from before a collection adds it and keeps the rest', async () => {
  const path = freshPath();
  const url = `sqlite:${path}`;
  const first = await openStore(url, systemClock);
  await first.insert('audit', 'a', { n: 1 });
  await first.close();
  const database = new DatabaseSync(path);
  database.exec('DROP TABLE bindings');
  database.close();
  const second = await openStore(url, systemClock);
  expect(await second.insert('bindings', 'a', {})).toEqual({ outcome: 'created' });
  expect(await second.get('audit', 'a')).toEqual({ n: 1 });
  await second.close();
});

test('SqliteStore writes through a write-ahead log and syncs at every commit', async () => {
  const { store, database, other } = openByHand(join(folder, 'pragmas.db'));
  expect(database.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
  expect(database.prepare('PRAGMA synchronous').get()).toEqual({ synchronous: 2 });
  other.close();
  await store.close();
});

test('insert + lock held beyond the wait rejects with STORE_BUSY, and works after it', async () => {
  const { store, other, clock } = openByHand(join(folder, 'busy.db'));
  other.exec('BEGIN IMMEDIATE');
  const startMs = clock.monotonicMs();
  const failedAfterMs: number[] = [];
  const insert = store.insert('audit', 'a', {}).catch((error: unknown) => {
    failedAfterMs.push(clock.monotonicMs() - startMs);
    return error;
  });
  while (failedAfterMs.length === 0) {
    await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(1);
  }
  expect(await insert).toMatchObject({ code: 'STORE_BUSY', kind: 'retry', status: 503 });
  expect(failedAfterMs[0]).toBeLessThanOrEqual(BUSY_WAIT_MS + 1);
  // Readers do not wait for a writer.
  expect(await store.get('audit', 'a')).toBeUndefined();
  other.exec('ROLLBACK');
  expect(await store.insert('audit', 'a', {})).toEqual({ outcome: 'created' });
  other.close();
  await store.close();
});

test('insert + lock released within the wait succeeds', async () => {
  const { store, other, clock } = openByHand(join(folder, 'wait.db'));
  other.exec('BEGIN IMMEDIATE');
  const insert = store.insert('audit', 'a', {});
  while (clock.sleeping === 0) await new Promise((resolve) => setImmediate(resolve));
  await clock.advance(BUSY_WAIT_MS / 2);
  other.exec('ROLLBACK');
  await clock.advance(1);
  expect(await insert).toEqual({ outcome: 'created' });
  other.close();
  await store.close();
});

test('insert + more than the queue holds rejects the surplus with STORE_BUSY', async () => {
  const { store, other } = openByHand(join(folder, 'queue.db'));
  const results = await Promise.allSettled(
    Array.from({ length: MAX_WAITING_INSERTS + 1 }, (_, n) => store.insert('audit', `${n}`, {})),
  );
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(MAX_WAITING_INSERTS);
  expect(results.at(-1)).toMatchObject({ status: 'rejected', reason: { code: 'STORE_BUSY' } });
  other.close();
  await store.close();
});

test('insert + more bytes than may wait rejects the surplus with STORE_BUSY', async () => {
  const { store, other } = openByHand(join(folder, 'bytes.db'));
  const body = new Uint8Array(14 * 1024 * 1024);
  const results = await Promise.allSettled(
    Array.from({ length: 10 }, (_, n) => store.insert('audit', `${n}`, { body })),
  );
  // 9 x 14 MiB = 126 MiB wait, the tenth would make it 140 of 128.
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(9);
  expect(results.at(-1)).toMatchObject({ status: 'rejected', reason: { code: 'STORE_BUSY' } });
  other.close();
  await store.close();
});

test('insert + full disk rejects the whole group, keeps nothing of it, and works again later', async () => {
  const { store, database, other } = openByHand(join(folder, 'full.db'));
  const pages = database.prepare('PRAGMA page_count').get()?.['page_count'] as number;
  database.exec(`PRAGMA max_page_count = ${pages + 4}`);
  const body = new Uint8Array(100_000);
  const group = await Promise.allSettled([
    store.insert('batches', 'small', {}),
    store.insert('batches', 'large', { body }),
  ]);
  for (const each of group) {
    expect(each).toMatchObject({ status: 'rejected', reason: { code: 'STORE_UNAVAILABLE' } });
    expect(String((each as PromiseRejectedResult).reason)).toContain('the disk is full');
  }
  expect(await store.get('batches', 'small')).toBeUndefined();
  database.exec('PRAGMA max_page_count = 1000000');
  expect(await store.insert('batches', 'large', { body })).toEqual({ outcome: 'created' });
  other.close();
  await store.close();
});

test('get + damaged file rejects with STORE_UNAVAILABLE that says so', async () => {
  const path = join(folder, 'damaged.db');
  const first = await openStore(`sqlite:${path}`, systemClock);
  for (let n = 0; n < 200; n++)
    await first.insert('batches', `id${n}`, { n, body: new Uint8Array(3000) });
  await first.close();
  const file = new DatabaseSync(path);
  const size = file.prepare('PRAGMA page_count').get()?.['page_count'] as number;
  file.close();
  const { openSync, writeSync, closeSync } = await import('node:fs');
  const descriptor = openSync(path, 'r+');
  for (let page = 20; page < size; page++)
    writeSync(descriptor, Buffer.alloc(4096, 0xab), 0, 4096, page * 4096);
  closeSync(descriptor);
  const store = await openStore(`sqlite:${path}`, systemClock);
  await expect(store.range('batches', 'id', 'ie', { limit: 1000 })).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
    message: expect.stringContaining('damaged'),
  });
  await store.close();
});

test('openStore + a file that is no database rejects with STORE_UNAVAILABLE that names it', async () => {
  const path = join(folder, 'notes.txt');
  writeFileSync(path, 'This is not a database. '.repeat(100));
  await expect(openStore(`sqlite:${path}`, systemClock)).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
    message: expect.stringContaining(`${path}: the file is not an SQLite database`),
  });
});

test('openStore + a folder that cannot be made rejects with STORE_UNAVAILABLE', async () => {
  const path = join(folder, 'file');
  writeFileSync(path, '');
  await expect(openStore(`sqlite:${path}/store.db`, systemClock)).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
    message: expect.stringContaining('cannot be made'),
  });
});

test('openStore + a folder in place of the file rejects with STORE_UNAVAILABLE', async () => {
  await expect(openStore(`sqlite:${folder}`, systemClock)).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
    message: expect.stringContaining('cannot be opened'),
  });
});

test('openStore + a file of an earlier version keeps its facts and gets what it lacks', async () => {
  const path = join(folder, 'earlier.db');
  const first = await openStore(`sqlite:${path}`, systemClock);
  await first.insert('audit', 'a', { kept: true });
  await first.close();
  const database = new DatabaseSync(path);
  database.exec('DROP TABLE payloads; PRAGMA user_version = 1');
  database.close();
  const store = await openStore(`sqlite:${path}`, systemClock);
  expect(await store.insert('payloads', 'p', {})).toEqual({ outcome: 'created' });
  expect(await store.get('audit', 'a')).toEqual({ kept: true });
  await store.close();
});

test('openStore + a file of a later version is refused', async () => {
  const path = join(folder, 'later.db');
  const database = new DatabaseSync(path);
  database.exec(`PRAGMA user_version = ${SCHEMA_VERSION + 1}`);
  database.close();
  await expect(openStore(`sqlite:${path}`, systemClock)).rejects.toMatchObject({
    code: 'STORE_VERSION_UNKNOWN',
  });
});

test('every method + a closed store rejects with STORE_UNAVAILABLE', async () => {
  const store = await openStore(freshUrl(), systemClock);
  await store.close();
  await store.close();
  const closed = { code: 'STORE_UNAVAILABLE', message: expect.stringContaining('it is closed') };
  await expect(store.get('audit', 'a')).rejects.toMatchObject(closed);
  await expect(store.insert('audit', 'a', {})).rejects.toMatchObject(closed);
});

test('close + inserts under way waits for them', async () => {
  const url = freshUrl();
  const store = await openStore(url, systemClock);
  const insert = store.insert('audit', 'a', {});
  await store.close();
  expect(await insert).toEqual({ outcome: 'created' });
});

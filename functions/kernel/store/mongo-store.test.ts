import type { Document } from 'mongodb';
import { afterEach, expect, test } from 'vitest';
import { VirtualClock } from '../core/clock.ts';
import { openStore } from './open-store.ts';
import type { Store } from './store.ts';
import {
  type FakeAnswer,
  type FakeMongoServer,
  startFakeMongoServer,
} from './testing/fake-mongo-server.ts';

const DUPLICATE = {
  ok: 1,
  n: 0,
  writeErrors: [{ index: 0, code: 11_000, errmsg: 'E11000 duplicate key error' }],
};
const found = (...firstBatch: Document[]) => ({
  ok: 1,
  cursor: { id: 0n, ns: 'tachograph.batches', firstBatch },
});

let server: FakeMongoServer | undefined;
let store: Store | undefined;
afterEach(async () => {
  await store?.close();
  await server?.stop();
  store = undefined;
  server = undefined;
});

/** A store on a server that answers each command by its name. */
async function openWith(answers: Record<string, FakeAnswer>, options = ''): Promise<Store> {
  server = await startFakeMongoServer(
    (command) => answers[Object.keys(command)[0] ?? ''] ?? { ok: 1 },
  );
  store = await openStore(`mongodb://127.0.0.1:${server.port}/${options}`, new VirtualClock());
  return store;
}

const insert = (to: Store) => to.insert('batches', 'v/s/1', { a: 1 }, 'hash-a');

test('insert asks for a journalled majority, in the database tachograph, whatever the URL says', async () => {
  const weak = '?w=1&journal=false&readConcernLevel=local&readPreference=secondary';
  await insert(await openWith({ insert: { ok: 1, n: 1 } }, weak));
  expect(server?.commands[0]).toMatchObject({
    insert: 'batches',
    $db: 'tachograph',
    writeConcern: { w: 'majority', j: true },
    documents: [{ _id: 'v/s/1', hash: 'hash-a', document: { a: 1 } }],
  });
});

test('insert + duplicate key confirms by a majority read before it says exists', async () => {
  const answers = { insert: DUPLICATE, find: found({ _id: 'v/s/1', hash: 'hash-a' }) };
  expect(await insert(await openWith(answers))).toEqual({ outcome: 'exists', same: true });
  expect(server?.commands[1]).toMatchObject({
    find: 'batches',
    filter: { _id: 'v/s/1' },
    readConcern: { level: 'majority' },
  });
});

test('insert + duplicate key of another content says so', async () => {
  const answers = { insert: DUPLICATE, find: found({ _id: 'v/s/1', hash: 'hash-b' }) };
  expect(await insert(await openWith(answers))).toEqual({ outcome: 'exists', same: false });
});

test('insert + duplicate key that no majority has yet is STORE_BUSY', async () => {
  const unconfirmed = await openWith({ insert: DUPLICATE, find: found() });
  await expect(insert(unconfirmed)).rejects.toMatchObject({
    code: 'STORE_BUSY',
    message: expect.stringContaining('batches/v/s/1 is not yet confirmed by a majority'),
  });
});

test.each<[string, FakeAnswer]>([
  [
    'a majority that did not confirm in time',
    {
      ok: 1,
      n: 1,
      writeConcernError: { code: 64, codeName: 'WriteConcernFailed', errmsg: 'waiting timed out' },
    },
  ],
  ['a server that is no primary any more', { ok: 0, code: 10_107, errmsg: 'not primary' }],
  ['a full disk', { ok: 0, code: 14_031, codeName: 'OutOfDiskSpace', errmsg: 'disk is full' }],
  ['a cut connection', 'hangUp'],
])('insert + %s is STORE_UNAVAILABLE: never acknowledged', async (_, answer) => {
  await expect(insert(await openWith({ insert: answer }))).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
    kind: 'retry',
  });
});

test('get, range and removePrefix + a cut connection are STORE_UNAVAILABLE', async () => {
  const failing = await openWith({ find: 'hangUp' });
  const unavailable = { code: 'STORE_UNAVAILABLE' };
  await expect(failing.get('batches', 'a')).rejects.toMatchObject(unavailable);
  await expect(failing.range('batches', 'a', 'b', { limit: 1 })).rejects.toMatchObject(unavailable);
  await expect(failing.removePrefix('batches', 'a', 1)).rejects.toMatchObject(unavailable);
});

test('get reads from the primary what a majority has', async () => {
  const reading = await openWith({ find: found() });
  expect(await reading.get('batches', 'a')).toBeUndefined();
  expect(server?.commands[0]).toMatchObject({ readConcern: { level: 'majority' } });
});

test('every method + a closed store is STORE_UNAVAILABLE', async () => {
  const closed = await openWith({});
  await closed.close();
  await expect(closed.get('batches', 'a')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  await expect(insert(closed)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
});

test('openStore + no server is STORE_UNAVAILABLE after the time in the URL, without the password', async () => {
  // A port that was free a moment ago.
  const gone = await startFakeMongoServer(() => ({ ok: 1 }));
  await gone.stop();
  const url = `mongodb://user:hunter2@127.0.0.1:${gone.port}/db?serverSelectionTimeoutMS=50`;
  const error: unknown = await openStore(url, new VirtualClock()).catch(
    (reason: unknown) => reason,
  );
  expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE' });
  expect(String(error)).toContain('ECONNREFUSED');
  expect(JSON.stringify(error) + String(error)).not.toContain('hunter2');
});

test.each([
  'mongodb://user:hunter2@',
  'mongodb://user:hunt@er2@host/db?nonsense=1',
  'mongodb://user:hunter2@host/db?tls=perhaps',
])('openStore + the broken URL %s is STORE_URL_INVALID without the password', async (url) => {
  const error: unknown = await openStore(url, new VirtualClock()).catch(
    (reason: unknown) => reason,
  );
  expect(error).toMatchObject({ code: 'STORE_URL_INVALID' });
  const { message, stack, fields, cause } = error as Error & { fields: unknown };
  expect(cause).toBeUndefined();
  expect(message + stack + JSON.stringify(fields)).not.toMatch(/hunt|er2/);
});

import { randomUUID } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { afterAll, describe, expect, inject, test } from 'vitest';
import { systemClock } from '../system/system-clock.ts';
import { openStore } from './open-store.ts';
import { sharedStoreContract } from './shared-store.contract.ts';
import { storeContract } from './store.contract.ts';

const { url: serverUrl, reason } = inject('mongoServer');

describe.skipIf(serverUrl === null)(`MongoDB server${reason === '' ? '' : `: ${reason}`}`, () => {
  const databases: string[] = [];
  const freshUrl = (): string => {
    const name = `tachograph_test_${randomUUID().slice(0, 8)}`;
    databases.push(name);
    const url = new URL(serverUrl ?? '');
    url.pathname = `/${name}`;
    return url.href;
  };

  afterAll(async () => {
    const client = new MongoClient(serverUrl ?? '');
    for (const name of databases) await client.db(name).dropDatabase();
    await client.close();
  });

  storeContract('mongo', () => openStore(freshUrl(), systemClock));
  sharedStoreContract('mongo', freshUrl);

  test('insert writes real BSON that people can read: int64, binary, nested documents', async () => {
    const url = freshUrl();
    const store = await openStore(url, systemClock);
    const document = { atMs: 2 ** 40, n: 1, half: 0.5, body: new Uint8Array([1]), in: { a: 'x' } };
    await store.insert('batches', 'v/s/1', document, 'the-hash');
    await store.close();
    const client = new MongoClient(url, { promoteValues: false });
    const raw = await client.db().collection('batches').findOne({ hash: 'the-hash' });
    await client.close();
    const types = Object.entries(raw?.['document'] as Record<string, object>).map(
      ([key, value]) => `${key}: ${value.constructor.name}`,
    );
    expect(raw).toMatchObject({ _id: 'v/s/1' });
    expect(types).toEqual(['atMs: Long', 'n: Int32', 'half: Double', 'body: Binary', 'in: Object']);
  });

  test('insert + BSON larger than MongoDB takes, CBOR within the limit, is refused', async () => {
    const store = await openStore(freshUrl(), systemClock);
    const list = Array.from({ length: 2_000_000 }, () => '');
    await expect(store.insert('results', 'v/s/1', { list })).rejects.toMatchObject({
      code: 'STORE_DOCUMENT_TOO_LARGE',
    });
    await store.close();
  });
});

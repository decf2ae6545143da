import { expect, test } from 'vitest';
import { memoryStore } from '#kernel/store/memory-store.ts';
import { prefixEnd } from '#kernel/core/ids.ts';
import { exportFilesContract } from './export-files.contract.ts';
import { StoreFiles } from './store-files.ts';
import { CHUNK_BYTES } from './store-unit-writer.ts';

exportFilesContract('StoreFiles', async () => new StoreFiles(memoryStore()));

const unit = (revision: number) => ({ vehicle: 'v1', session: 's1', window: null, revision });
const wanted = async (): Promise<boolean> => true;

async function ids(store: ReturnType<typeof memoryStore>): Promise<string[]> {
  const found = await store.range('files', 'v1/', prefixEnd('v1/'), { limit: 100 });
  return found.map(({ id }) => id.replace(/[0-9a-f]{64}/, 'HASH'));
}

test('StoreFiles + 2.5 MiB stand in three chunks of at most 1 MiB and one manifest', async () => {
  const store = memoryStore();
  const writer = await new StoreFiles(store).begin(unit(1));
  const bytes = Buffer.from(Array.from({ length: 2.5 * CHUNK_BYTES }, (_, at) => (at * 7) % 251));
  await writer.add('recorded/can0-A.csv', [bytes]);
  await writer.publish(wanted);
  expect(await ids(store)).toEqual([
    'v1/s1/chunk/session/0001/HASH',
    'v1/s1/chunk/session/0001/HASH',
    'v1/s1/chunk/session/0001/HASH',
    'v1/s1/manifest/session/0001/0001',
  ]);
  const chunks = await store.range('files', 'v1/s1/chunk/', prefixEnd('v1/s1/chunk/'), {
    limit: 9,
  });
  const sizes = chunks.map(({ document }) => (document['bytes'] as Uint8Array).length);
  expect(Math.max(...sizes)).toBe(CHUNK_BYTES);
});

test('StoreFiles + a later revision leaves no fact of the earlier one', async () => {
  const store = memoryStore();
  for (const revision of [1, 2]) {
    const writer = await new StoreFiles(store).begin(unit(revision));
    await writer.add('recorded/can0-A.csv', [Buffer.from(`revision ${revision}`)]);
    await writer.publish(wanted);
  }
  expect(await ids(store)).toEqual([
    'v1/s1/chunk/session/0002/HASH',
    'v1/s1/manifest/session/0002/0001',
  ]);
});

test('StoreFiles + the same unit published again writes no new fact', async () => {
  const store = memoryStore();
  for (let time = 0; time < 2; time++) {
    const writer = await new StoreFiles(store).begin(unit(1));
    await writer.add('recorded/can0-A.csv', [Buffer.from('same')]);
    await writer.publish(wanted);
  }
  expect(await ids(store)).toHaveLength(2);
});

test('StoreFiles + more rivals than a unit can have asks to try again', async () => {
  const store = memoryStore();
  const busy = { ...store, insert: async () => ({ outcome: 'exists', same: false }) as const };
  const writer = await new StoreFiles(busy).begin(unit(1));
  await writer.add('session.json', [Buffer.from('{}')]);
  await expect(writer.publish(wanted)).rejects.toMatchObject({ code: 'STORE_BUSY', kind: 'retry' });
});

test('StoreFiles + a chunk that is gone fails by name and gives no wrong bytes', async () => {
  const store = memoryStore();
  const files = new StoreFiles(store);
  const writer = await files.begin(unit(1));
  await writer.add('session.json', [Buffer.from('{}')]);
  await writer.publish(wanted);
  await store.removePrefix('files', 'v1/s1/chunk/', 10);
  const file = await files.open('v1/s1/session.json');
  const read = async (): Promise<void> => {
    for await (const piece of file?.read(0, 2) ?? []) expect(piece).toBeUndefined();
  };
  await expect(read()).rejects.toMatchObject({ code: 'FILES_DAMAGED' });
});

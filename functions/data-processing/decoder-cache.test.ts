import { expect, test } from 'vitest';
import { memoryStore } from '#kernel/store/memory-store.ts';
import { DecoderCache, MAX_DECODERS } from './decoder-cache.ts';
import { bytesOf, DBC } from './testing/window-fixtures.ts';

/** A store with DBCs named d0, d1 … that counts how often it is asked. */
async function countingStore(count: number) {
  const store = memoryStore();
  for (let index = 0; index < count; index++) {
    const sha256 = `d${index}`;
    const fact = { sha256, name: 'x.dbc', bytes: bytesOf(DBC), createdAtMs: 0 };
    await store.insert('decoders', sha256, fact);
  }
  const reads: string[] = [];
  const get: typeof store.get = (collection, id) => {
    reads.push(id);
    return store.get(collection, id);
  };
  return { store: { ...store, get }, reads };
}

test('find reads and compiles a DBC once', async () => {
  const { store, reads } = await countingStore(1);
  const cache = new DecoderCache();
  const first = await cache.find('d0', store);
  expect(first?.find(100, false)?.message.name).toBe('MOTION');
  expect(await cache.find('d0', store)).toBe(first);
  expect(reads).toEqual(['d0']);
});

test('find of an unknown DBC gives undefined and asks again the next time', async () => {
  const { store, reads } = await countingStore(0);
  const cache = new DecoderCache();
  expect(await cache.find('d0', store)).toBeUndefined();
  expect(await cache.find('d0', store)).toBeUndefined();
  expect(reads).toEqual(['d0', 'd0']);
  expect(cache.size).toBe(0);
});

test('find keeps MAX_DECODERS and drops the one that was not used for longest', async () => {
  const { store, reads } = await countingStore(MAX_DECODERS + 1);
  const cache = new DecoderCache();
  for (let index = 0; index < MAX_DECODERS; index++) await cache.find(`d${index}`, store);
  await cache.find('d0', store);
  await cache.find(`d${MAX_DECODERS}`, store);
  expect(cache.size).toBe(MAX_DECODERS);
  reads.length = 0;
  await cache.find('d0', store);
  expect(reads).toEqual([]);
  await cache.find('d1', store);
  expect(reads).toEqual(['d1']);
});

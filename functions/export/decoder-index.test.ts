import { expect, test } from 'vitest';
import { memoryStore } from '#kernel/store/memory-store.ts';
import { DecoderIndexes } from './decoder-index.ts';
import { DBC_SHA256, insertCampaign } from './testing/session-facts.ts';

test('DecoderIndexes + a DBC gives the names and labels of its messages', async () => {
  const store = memoryStore();
  await insertCampaign(store);
  const index = await new DecoderIndexes().get(store, DBC_SHA256);
  expect(index?.get('64')).toEqual({
    fileName: 'MOTION',
    labels: new Map([['GEAR', { 0: 'P', 1: 'D' }]]),
  });
});

test('DecoderIndexes + an unknown hash is no index', async () => {
  expect(await new DecoderIndexes().get(memoryStore(), '0'.repeat(64))).toBeUndefined();
});

test('DecoderIndexes + a ninth DBC forgets the one not used for longest', async () => {
  const store = memoryStore();
  const indexes = new DecoderIndexes();
  const bytes = Buffer.from('VERSION ""\n');
  const names = Array.from({ length: 9 }, (_, at) => `dbc${at}`);
  for (const sha256 of names) {
    await store.insert('decoders', sha256, { sha256, name: sha256, bytes, createdAtMs: 0 });
  }
  for (const name of names.slice(0, 8)) await indexes.get(store, name);
  await indexes.get(store, 'dbc0');
  await indexes.get(store, 'dbc8');
  expect(indexes.size).toBe(8);
  const empty = memoryStore();
  expect(await indexes.get(empty, 'dbc0')).toBeDefined();
  expect(await indexes.get(empty, 'dbc1')).toBeUndefined();
});

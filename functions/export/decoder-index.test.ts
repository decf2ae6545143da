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

test('DecoderIndexes + labels of 64 bits are all there, exactly', async () => {
  const store = memoryStore();
  const text =
    'BO_ 1 M: 8 N\n SG_ s : 0|64@1+ (1,0) [0|0] "" N\n' +
    'VAL_ 1 s 18446744073709551615 "SNA" 18446744073709551614 "ERR" 9007199254740993 "odd" ;\n';
  const fact = { sha256: 'wide', name: 'wide', bytes: Buffer.from(text), createdAtMs: 0 };
  await store.insert('decoders', 'wide', fact);
  const index = await new DecoderIndexes().get(store, 'wide');
  expect(JSON.parse(JSON.stringify(index?.get('1')?.labels.get('s')))).toEqual({
    '18446744073709551615': 'SNA',
    '18446744073709551614': 'ERR',
    '9007199254740993': 'odd',
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

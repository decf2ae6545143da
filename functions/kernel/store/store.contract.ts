import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { prefixEnd } from '../core/ids.ts';
import { MAX_DOCUMENT_BYTES } from './fact-codec.ts';
import type { Fact, Store } from './store.ts';

/** What every adapter of the port must do. `open` gives an empty store. */
export function storeContract(name: string, open: () => Promise<Store>): void {
  describe(`${name} store`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await open();
    });
    afterEach(() => store.close());
    describe('insert', () => insertContract(() => store));
    describe('documents', () => documentContract(() => store));
    describe('range', () => rangeContract(() => store));
    describe('removePrefix', () => removeContract(() => store));
  });
}

function insertContract(store: () => Store): void {
  test('a new id is created, and get returns the document', async () => {
    expect(await store().insert('windows', 'v/s/1', { a: 1 })).toEqual({ outcome: 'created' });
    expect(await store().get('windows', 'v/s/1')).toEqual({ a: 1 });
  });

  test('an equal document under a used id exists and is the same, in any order of members', async () => {
    await store().insert('windows', 'v/s/1', { a: 1, b: { c: [1, 2], d: null } });
    const again = await store().insert('windows', 'v/s/1', { b: { d: null, c: [1, 2] }, a: 1 });
    expect(again).toEqual({ outcome: 'exists', same: true });
  });

  test('another document under a used id exists, is different and changes nothing', async () => {
    await store().insert('windows', 'v/s/1', { a: 1 });
    const other = await store().insert('windows', 'v/s/1', { a: 2 });
    expect(other).toEqual({ outcome: 'exists', same: false });
    expect(await store().get('windows', 'v/s/1')).toEqual({ a: 1 });
  });

  test('a given content hash alone decides what is the same', async () => {
    await store().insert('batches', 'v/s/1', { receivedAtMs: 1 }, 'hash-a');
    const later = await store().insert('batches', 'v/s/1', { receivedAtMs: 2 }, 'hash-a');
    const other = await store().insert('batches', 'v/s/1', { receivedAtMs: 1 }, 'hash-b');
    expect([later, other]).toEqual([
      { outcome: 'exists', same: true },
      { outcome: 'exists', same: false },
    ]);
  });

  test('the same id in another collection is another document', async () => {
    await store().insert('windows', 'v/s/1', { a: 1 });
    expect(await store().insert('sessions', 'v/s/1', { a: 2 })).toEqual({ outcome: 'created' });
    expect(await store().get('sessions', 'v/s/1')).toEqual({ a: 2 });
  });

  test('ids that differ in case are different', async () => {
    await store().insert('windows', 'v/S/1', { a: 1 });
    expect(await store().insert('windows', 'v/s/1', { a: 2 })).toEqual({ outcome: 'created' });
  });

  test('of 100 inserts of one id at once exactly one is created', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 100 }, () => store().insert('batches', 'v/s/7', { seq: 7 })),
    );
    expect(outcomes.filter(({ outcome }) => outcome === 'created')).toHaveLength(1);
    expect(outcomes.filter((each) => each.outcome === 'exists' && each.same)).toHaveLength(99);
  });

  test('an id outside the grammar and an unknown collection are bugs', async () => {
    for (const id of ['', 'a b', 'ä', 'a\0', 'x'.repeat(513)]) {
      await expect(store().insert('windows', id, {})).rejects.toThrow('as an id');
      await expect(store().get('windows', id)).rejects.toThrow('as an id');
    }
    await expect(store().get('users' as never, 'v')).rejects.toThrow('unknown collection');
  });
}

const VALUES: Readonly<Record<string, Fact>> = {
  empty: {},
  'JSON values': { n: null, t: true, f: false, s: 'ä€😀\0"', e: '', list: [1, 'two', [], {}] },
  integers: { ints: [0, -1, 255, 2 ** 31 - 1, 2 ** 31, -(2 ** 31), -(2 ** 31) - 1, 2 ** 40] },
  'the largest integers': { max: 2 ** 53 - 1, min: -(2 ** 53) + 1 },
  doubles: { doubles: [0.1, 1.5, 1e300, 5e-324, -2.5, 2 ** 53 + 2, 1e21] },
  bytes: { bytes: new Uint8Array([0, 1, 255]), none: new Uint8Array(), list: [new Uint8Array(1)] },
  'keys with a meaning elsewhere': {
    'can.1': 1,
    $set: 2,
    'a%2Eb': 3,
    _bsontype: 'Binary',
    constructor: 4,
    '': 5,
    _id: 6,
    nested: { 'x.y': { $gt: 1 } },
  },
};

function documentContract(store: () => Store): void {
  test.each(Object.entries(VALUES))('%s come back as they were', async (_, document) => {
    await store().insert('results', 'v/s/1', document);
    expect(await store().get('results', 'v/s/1')).toStrictEqual(document);
    expect(await store().insert('results', 'v/s/1', document)).toMatchObject({ same: true });
  });

  test('a member named __proto__ is data', async () => {
    const document = JSON.parse('{"__proto__":{"polluted":true},"a":1}') as Fact;
    await store().insert('results', 'v/s/1', document);
    const found = await store().get('results', 'v/s/1');
    expect(Object.keys(found ?? {}).sort()).toEqual(['__proto__', 'a']);
    expect(found?.['polluted']).toBeUndefined();
  });

  test('undefined members are left out', async () => {
    await store().insert('results', 'v/s/1', { a: undefined, b: { c: undefined, d: 1 } });
    expect(await store().get('results', 'v/s/1')).toStrictEqual({ b: { d: 1 } });
    expect(await store().insert('results', 'v/s/1', { b: { d: 1 } })).toMatchObject({ same: true });
  });

  test('bytes come back as a Uint8Array that shares nothing with what was given', async () => {
    const bytes = Buffer.from('abc');
    await store().insert('results', 'v/s/1', { bytes });
    bytes.fill(0);
    const found = (await store().get('results', 'v/s/1'))?.['bytes'];
    expect(found?.constructor).toBe(Uint8Array);
    expect(found).toEqual(new Uint8Array([97, 98, 99]));
  });

  test('a document of the largest size is kept, one byte more is refused', async () => {
    // CBOR: 1 (map) + 2 (key "b") + 5 (length) = 8 bytes around the payload.
    const largest = new Uint8Array(MAX_DOCUMENT_BYTES - 8).fill(7);
    await store().insert('batches', 'v/s/1', { b: largest });
    const found = (await store().get('batches', 'v/s/1'))?.['b'] as Uint8Array;
    expect(Buffer.compare(found, largest)).toBe(0);
    const over = { b: new Uint8Array(MAX_DOCUMENT_BYTES - 7) };
    await expect(store().insert('batches', 'v/s/2', over)).rejects.toMatchObject({
      code: 'STORE_DOCUMENT_TOO_LARGE',
      status: 413,
      message: expect.stringContaining(`at most ${MAX_DOCUMENT_BYTES}`),
    });
    expect(await store().get('batches', 'v/s/2')).toBeUndefined();
  });
}

/** Ids whose order by bytes differs from the order of a dictionary or of numbers. */
const ORDERED = ['V/s/1', 'a', 'a/0', 'a/1', 'a/1/x', 'a/10', 'a/2', 'aB', 'a~', 'b'];

function rangeContract(store: () => Store): void {
  beforeEach(async () => {
    for (const id of ORDERED.toReversed()) await store().insert('receipts', id, { id });
  });
  const ids = async (from: string, to: string, limit = 100, descending = false) =>
    (await store().range('receipts', from, to, { limit, descending })).map(({ id }) => id);

  test('a range gives ids and documents in the byte order of ids', async () => {
    expect(await ids('', prefixEnd(''))).toEqual(ORDERED);
    expect(await store().range('receipts', 'a/2', 'aC', { limit: 9 })).toEqual([
      { id: 'a/2', document: { id: 'a/2' } },
      { id: 'aB', document: { id: 'aB' } },
    ]);
  });

  test('from is inclusive, to is exclusive', async () => {
    expect(await ids('a/0', 'a/10')).toEqual(['a/0', 'a/1', 'a/1/x']);
  });

  test('an id with NUL appended as from starts after that id: so pages follow each other', async () => {
    expect(await ids('a/1\0', 'a/2')).toEqual(['a/1/x', 'a/10']);
  });

  test('a prefix range gives all ids that start with the prefix', async () => {
    expect(await ids('a/1', prefixEnd('a/1'))).toEqual(['a/1', 'a/1/x', 'a/10']);
  });

  test('the limit cuts at the end; descending starts at the other end', async () => {
    expect(await ids('a/', prefixEnd('a/'), 2)).toEqual(['a/0', 'a/1']);
    expect(await ids('a/', prefixEnd('a/'), 2, true)).toEqual(['a/2', 'a/10']);
  });

  test('an empty, reversed or foreign range gives nothing', async () => {
    expect(await ids('a', 'a')).toEqual([]);
    expect(await ids('b', 'a')).toEqual([]);
    expect(await store().range('windows', '', prefixEnd(''), { limit: 1 })).toEqual([]);
  });

  test.each([0, -1, 1.5, 10_001, Number.NaN])('the limit %d is refused', async (limit) => {
    const refused = { code: 'STORE_LIMIT_INVALID', message: expect.stringContaining('1 to 10000') };
    await expect(store().range('receipts', 'a', 'b', { limit })).rejects.toMatchObject(refused);
    await expect(store().removePrefix('receipts', 'a', limit)).rejects.toMatchObject(refused);
  });

  test('the limits 1 and 10,000 are accepted', async () => {
    expect(await ids('', prefixEnd(''), 1)).toEqual(['V/s/1']);
    expect(await ids('', prefixEnd(''), 10_000)).toHaveLength(ORDERED.length);
  });
}

function removeContract(store: () => Store): void {
  beforeEach(async () => {
    for (const id of ORDERED) await store().insert('receipts', id, { id });
    await store().insert('windows', 'a/1', {});
  });

  test('documents with the prefix go, others and other collections stay', async () => {
    expect(await store().removePrefix('receipts', 'a/1', 100)).toBe(3);
    const left = await store().range('receipts', '', prefixEnd(''), { limit: 100 });
    expect(left.map(({ id }) => id)).toEqual(ORDERED.filter((id) => !id.startsWith('a/1')));
    expect(await store().get('windows', 'a/1')).toEqual({});
    expect(await store().removePrefix('receipts', 'a/1', 100)).toBe(0);
  });

  test('at most limit documents go, the first ones; repeating removes the rest', async () => {
    expect(await store().removePrefix('receipts', 'a/', 3)).toBe(3);
    expect(await store().get('receipts', 'a/10')).toEqual({ id: 'a/10' });
    expect(await store().removePrefix('receipts', 'a/', 3)).toBe(2);
    expect(await store().removePrefix('receipts', 'a/', 3)).toBe(0);
  });

  test('a removed id can be inserted again with other content', async () => {
    await store().removePrefix('receipts', 'a/2', 1);
    expect(await store().insert('receipts', 'a/2', { new: 1 })).toEqual({ outcome: 'created' });
  });
}

import fc from 'fast-check';
import { BSON } from 'mongodb';
import { expect, test } from 'vitest';
import { bsonToFact, factToBson } from './bson-fact.ts';
import { decodeFact, encodeFact, factHash } from './fact-codec.ts';
import type { Fact } from './store.ts';

/** Any fact: nested, with bytes and with keys that mean something elsewhere. */
const key = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom('$set', 'a.b', '%', '%2E', '%array', '__proto__', '_bsontype', '_id', 'toBSON'),
);
const { fact } = fc.letrec<{ fact: Fact; value: unknown }>((tie) => ({
  fact: fc.dictionary(key, tie('value'), {
    maxKeys: 6,
    noNullPrototype: true,
  }) as fc.Arbitrary<Fact>,
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.constant(null),
    fc.boolean(),
    fc.maxSafeInteger(),
    fc.double({ noNaN: true }).map((number) => number + 0),
    fc.string({ unit: 'grapheme' }),
    fc.uint8Array({ maxLength: 20 }),
    fc.array(tie('value'), { maxLength: 4 }),
    tie('fact'),
  ),
}));

test('decodeFact gives back what encodeFact took', () => {
  fc.assert(
    fc.property(fact, (document) => {
      expect(decodeFact(encodeFact(document))).toEqual(document);
    }),
  );
});

test('bsonToFact gives back what factToBson took, through the bytes of BSON', () => {
  fc.assert(
    fc.property(fact, (document) => {
      const bytes = BSON.serialize({ document: factToBson(document) });
      const read = BSON.deserialize(bytes, { promoteBuffers: false });
      expect(bsonToFact(read['document'] as object)).toEqual(document);
    }),
  );
});

test('factHash does not depend on the order of members or on undefined ones', () => {
  const one = { a: 1, b: { c: 'x', d: [new Uint8Array([1])] } };
  const other = { b: { d: [Buffer.from([1])], e: undefined, c: 'x' }, a: 1 };
  expect(factHash(other)).toBe(factHash(one));
  expect(factHash({ ...one, a: 2 })).not.toBe(factHash(one));
});

test('encodeFact is the canonical CBOR of RFC 7049: shortest numbers, short keys first', () => {
  const bytes = encodeFact({ bb: 0.5, a: 24, c: -0, d: 1.0 });
  // map(4): "a" 24, "c" 0, "d" 1, "bb" half-precision 0.5
  const expected = ['a4', '61611818', '616300', '616401', '626262f93800'];
  expect(Buffer.from(bytes).toString('hex')).toBe(expected.join(''));
});

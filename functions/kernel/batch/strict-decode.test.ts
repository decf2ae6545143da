import { encode } from 'cborg';
import { expect, test } from 'vitest';
import { decodeStrict } from './strict-decode.ts';

const hex = (text: string): Uint8Array => Buffer.from(text.replaceAll(' ', ''), 'hex');
const refusal = (detail: string | RegExp) =>
  expect.objectContaining({ code: 'BODY_MALFORMED', message: expect.stringMatching(detail) });

test.each([
  ['a2 61 61 01 61 61 02', 'repeat map key'],
  ['bf 61 61 01 ff', 'indefinite'],
  ['9f 01 ff', 'indefinite'],
  ['5f 41 01 ff', 'indefinite'],
  ['7f 61 61 ff', 'indefinite'],
  ['ff', 'break|indefinite'],
  ['81 ff', 'break|indefinite'],
  ['c2 41 01', 'tag'],
  ['c0 61 61', 'tag'],
  ['f7', 'undefined'],
  ['f9 7e00', 'NaN'],
  ['f9 7c00', 'Infinity'],
  ['1b 0020000000000000', 'safe|64-bit|range'],
  ['18 05', 'more bytes than necessary|canonical'],
  ['a1 01 01', 'string keys'],
  ['01 01', 'too many'],
  ['82 01', 'not enough entries'],
  ['9b 0010000000000000', 'not enough|64-bit'],
  ['5a ffffffff 00', 'not enough data'],
  ['fc', 'major type|minor|simple'],
  ['', 'any content'],
])('decodeStrict of CBOR %s is refused', (bytes, detail) => {
  expect(() => decodeStrict(hex(bytes), 'cbor')).toThrow(refusal(detail));
});

test.each([
  ['{"a":1,"a":2}', 'repeat map key'],
  ['{"a":1', 'unexpected|not enough|any'],
  ['{"a":1}x', 'too many'],
  ['[1,]', 'unexpected'],
  ['undefined', 'unexpected'],
  ['NaN', 'unexpected'],
  ['', 'any content|unexpected'],
])('decodeStrict of JSON %s is refused', (text, detail) => {
  expect(() => decodeStrict(Buffer.from(text), 'json')).toThrow(refusal(detail));
});

test('decodeStrict of JSON with white space all around is read', () => {
  expect(decodeStrict(Buffer.from(' { "a" : [ 1 , {} , [] ] }\n'), 'json')).toEqual({
    a: [1, {}, []],
  });
});

test('decodeStrict keeps a key named __proto__ a key', () => {
  const value = decodeStrict(Buffer.from('{"__proto__":{"x":1}}'), 'json') as object;
  expect(Object.keys(value)).toEqual(['__proto__']);
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
});

const nested = (levels: number): unknown =>
  levels === 0 ? 1 : levels % 2 === 0 ? [nested(levels - 1)] : { a: nested(levels - 1) };

test.each(['cbor', 'json'] as const)(
  'decodeStrict of %s takes 8 levels and refuses 9',
  (format) => {
    const body = (levels: number): Uint8Array =>
      format === 'cbor' ? encode(nested(levels)) : Buffer.from(JSON.stringify(nested(levels)));
    expect(decodeStrict(body(8), format)).toEqual(nested(8));
    expect(() => decodeStrict(body(9), format)).toThrow(refusal('deeper than 8 levels'));
  },
);

test('decodeStrict counts depth, not siblings', () => {
  const wide = Array.from({ length: 100 }, () => [[], {}, [[1]], { a: {} }]);
  expect(decodeStrict(encode(wide), 'cbor')).toEqual(wide);
  expect(decodeStrict(Buffer.from(JSON.stringify(wide)), 'json')).toEqual(wide);
});

test('decodeStrict of a million levels is refused, not a stack overflow', () => {
  const deep = new Uint8Array(1_000_000).fill(0x81);
  expect(() => decodeStrict(deep, 'cbor')).toThrow(refusal('deeper than 8 levels'));
  expect(() => decodeStrict(deep.fill(0x5b), 'json')).toThrow(refusal('deeper than 8 levels'));
});

test('decodeStrict takes 1,000,000 values and refuses one more', () => {
  const zeros = (count: number): Uint8Array => {
    const body = new Uint8Array(5 + count);
    body[0] = 0x9a;
    new DataView(body.buffer).setUint32(1, count);
    return body;
  };
  expect(decodeStrict(zeros(999_999), 'cbor')).toHaveLength(999_999);
  expect(() => decodeStrict(zeros(1_000_000), 'cbor')).toThrow(refusal('more than 1000000 values'));
});

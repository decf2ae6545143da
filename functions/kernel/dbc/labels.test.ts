import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exactNumber } from './exact-number.ts';
import { labelKey, labelOf } from './labels.ts';
import { parseDbc } from './parse-dbc.ts';

const signalWith = (...statements: readonly string[]) => {
  const head = 'BO_ 1 M: 8 N\n SG_ s : 0|64@1+ (1,0) [0|0] "" N\n';
  const { messages, faults } = parseDbc(Buffer.from(`${head}${statements.join('\n')}\n`));
  expect(faults).toEqual([]);
  return messages[0]?.signals[0];
};

const WIDE = '18446744073709551615 "SNA" 18446744073709551614 "ERR" 9007199254740993 "odd"';
const WIDE_LABELS = [
  [18_446_744_073_709_551_615n, 'SNA'],
  [18_446_744_073_709_551_614n, 'ERR'],
  [9_007_199_254_740_993n, 'odd'],
];

test('parseDbc + labels beyond 2^53 are all kept as they stand, in place and from a table', () => {
  expect([...(signalWith(`VAL_ 1 s ${WIDE} ;`)?.labels ?? [])]).toEqual(WIDE_LABELS);
  const named = signalWith(`VAL_TABLE_ T ${WIDE} ;`, 'VAL_ 1 s T ;');
  expect([...(named?.labels ?? [])]).toEqual(WIDE_LABELS);
});

test('parseDbc + labels at the edge of the safe integers are numbers up to it, bigints beyond', () => {
  const values = '9007199254740991 "a" 9007199254740992 "b" -9007199254740992 "c" -1 "d" 2.5 "e"';
  expect([...(signalWith(`VAL_ 1 s ${values} ;`)?.labels.keys() ?? [])]).toEqual([
    2 ** 53 - 1,
    2n ** 53n,
    -(2n ** 53n),
    -1,
    2.5,
  ]);
});

test.each([
  ['18446744073709551615', 2n ** 64n - 1n],
  ['18446744073709551615.0', 2n ** 64n - 1n],
  ['1.8446744073709551615E19', 2n ** 64n - 1n],
  ['184467440737095516150e-1', 2n ** 64n - 1n],
  ['0xFFFFFFFFFFFFFFFF', 2n ** 64n - 1n],
  ['-0x8000000000000001', -(2n ** 63n) - 1n],
  ['-9223372036854775807', -(2n ** 63n) + 1n],
  ['9007199254740993.5', 2 ** 53 + 2],
  ['3.0', 3],
  ['-.5e1', -5],
  // 40 digits are exact, 41 are a double.
  ['1e39', 10n ** 39n],
  ['1e40', 1e40],
  ['1e9999', Infinity],
])('exactNumber + %s is %s', (text, value) => {
  expect(exactNumber(text)).toBe(value);
});

test('labelOf + raw values are found by their exact value, as number or bigint', () => {
  const labels = new Map<number | bigint, string>([
    [3, 'three'],
    [2n ** 60n, 'large'],
    [2n ** 53n + 1n, 'odd'],
  ]);
  expect([3, 3n].map((raw) => labelOf(labels, raw))).toEqual(['three', 'three']);
  expect([2 ** 60, 2n ** 60n].map((raw) => labelOf(labels, raw))).toEqual(['large', 'large']);
  // Its neighbour, which is the nearest double, is another value.
  expect([2n ** 53n, 2 ** 53, 2n ** 53n + 1n].map((raw) => labelOf(labels, raw))).toEqual([
    undefined,
    undefined,
    'odd',
  ]);
  expect(labelOf(labels, NaN)).toBeUndefined();
});

test('labelKey + any two 64-bit integers have one key only when they are equal', () => {
  const raw = fc.oneof(
    fc.bigInt(-(2n ** 63n), 2n ** 64n - 1n),
    fc.bigInt(2n ** 53n - 9n, 2n ** 53n + 9n),
  );
  fc.assert(
    fc.property(raw, raw, (a, b) => {
      expect(labelKey(exactNumber(String(a)))).toBe(labelKey(a));
      expect(labelKey(a) === labelKey(b)).toBe(a === b);
    }),
  );
});

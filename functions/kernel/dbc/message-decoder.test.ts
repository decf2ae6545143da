import { describe, expect, test } from 'vitest';

import { must } from '#kernel/core/assert.ts';

import {
  compileDatabase,
  compileMessage,
  LONGER,
  newColumns,
  physicalValue,
  TRUNCATED,
  UNKNOWN_SELECTOR,
} from './message-decoder.ts';
import type { Message } from './model.ts';
import { parseDbc } from './parse-dbc.ts';

/** The first message of a DBC text, which must be free of faults. */
function messageOf(text: string): Message {
  const database = parseDbc(Buffer.from(text));
  expect(database.faults).toEqual([]);
  return must(database.messages[0], 'first message');
}

type Decoded = Record<string, number | bigint>;

/** Flags and the raw values of the signals that are present. */
function decode(message: Message, bytes: readonly number[]): [flags: number, raw: Decoded] {
  const columns = newColumns(message, 1);
  const payload = Uint8Array.from(bytes);
  const flags = compileMessage(message).decodeRow(payload, 0, payload.length, columns, 0);
  const present = columns.filter((column) => column.present[0] === 1);
  return [flags, Object.fromEntries(present.map((c) => [c.signal.name, must(c.values[0], 'raw')]))];
}

/** One signal `X` in a message of `byteLength` bytes. */
const single = (layout: string, byteLength = 8, extra = ''): Message =>
  messageOf(`BO_ 1 M: ${byteLength} N\n SG_ X : ${layout} [0|0] "" N\n${extra}`);

describe('decodeRow of one signal', () => {
  test.each([
    // Intel: 12 bits from bit 4 of byte 0: the upper nibble A is the low one, then BC: 0xBCA.
    ['intel', '4|12@1+ (1,0)', [0xa0, 0xbc], 0xbca],
    // Motorola: MSB is bit 3 of byte 0: nibble A, then the whole of byte 1: 0xABC.
    ['motorola', '3|12@0+ (1,0)', [0x0a, 0xbc], 0xabc],
    // Motorola from bit 0 of byte 0: 1 bit there, then bits 7 to 1 of byte 1: 1 1000000 = 0xC0.
    ['motorola over a byte border', '0|8@0+ (1,0)', [0x01, 0x81], 0xc0],
    // Two's complement: 0xFFF is -1 in 12 bits, 0x800 the smallest: -2048.
    ['intel, signed -1', '0|12@1- (1,0)', [0xff, 0x0f], -1],
    ['motorola, signed smallest', '3|12@0- (1,0)', [0x08, 0x00], -2048],
    // One signed bit is 0 or -1.
    ['one signed bit', '7|1@1- (1,0)', [0x80], -1],
    // 32 bits, unsigned: must not turn negative through JavaScript's 32-bit operators.
    ['32 bits unsigned', '0|32@1+ (1,0)', [0xff, 0xff, 0xff, 0xff], 4_294_967_295],
    ['32 bits signed', '7|32@0- (1,0)', [0xff, 0xff, 0xff, 0xfe], -2],
    // 33 bits: 2^32 needs the second word.
    ['33 bits', '0|33@1+ (1,0)', [0, 0, 0, 0, 1], 4_294_967_296],
    // 53 bits of ones: the largest integer that a double holds exactly.
    ['53 bits', '0|53@1+ (1,0)', [255, 255, 255, 255, 255, 255, 0x1f], 2 ** 53 - 1],
    ['53 bits signed', '4|53@0- (1,0)', [0x1f, 255, 255, 255, 255, 255, 0xff], -1],
    // 54 bits: 2^53 + 1, which no double holds.
    ['54 bits', '0|54@1+ (1,0)', [1, 0, 0, 0, 0, 0, 0x20], 2n ** 53n + 1n],
    ['64 bits', '7|64@0+ (1,0)', [255, 255, 255, 255, 255, 255, 255, 254], 2n ** 64n - 2n],
    ['64 bits signed', '0|64@1- (1,0)', [254, 255, 255, 255, 255, 255, 255, 255], -2n],
  ])('%s reads the worked number', (_, layout, bytes, expected) => {
    const message = single(layout);
    const payload = [...bytes, ...Array.from({ length: 8 - bytes.length }, () => 0)];
    expect(decode(message, payload)).toEqual([0, { X: expected }]);
  });

  test('64 bits over nine bytes read the worked number', () => {
    // From bit 4 of byte 0: the nibble 1, seven bytes of 0, then the nibble 8 of byte 8 on top.
    const message = single('4|64@1+ (1,0)', 9);
    const raw = 0x8000_0000_0000_0001n;
    expect(decode(message, [0x10, 0, 0, 0, 0, 0, 0, 0, 0x08])).toEqual([0, { X: raw }]);
  });

  test('float32 and float64 reinterpret the bits, in both byte orders', () => {
    // 1.5 is 0x3FC00000, -0.1 is 0xBFB999999999999A (IEEE 754).
    const float = 'SIG_VALTYPE_ 1 X : 1;';
    const double = 'SIG_VALTYPE_ 1 X : 2;';
    const tail = [0, 0, 0, 0];
    expect(decode(single('0|32@1- (1,0)', 8, float), [0, 0, 0xc0, 0x3f, ...tail])).toEqual([
      0,
      { X: 1.5 },
    ]);
    expect(decode(single('7|32@0- (1,0)', 8, float), [0x3f, 0xc0, 0, 0, ...tail])).toEqual([
      0,
      { X: 1.5 },
    ]);
    const big = [0xbf, 0xb9, 0x99, 0x99, 0x99, 0x99, 0x99, 0x9a];
    expect(decode(single('7|64@0- (1,0)', 8, double), big)).toEqual([0, { X: -0.1 }]);
    expect(decode(single('0|64@1- (1,0)', 8, double), big.toReversed())).toEqual([0, { X: -0.1 }]);
  });
});

describe("decodeRow with a length that is not the message's", () => {
  const message = messageOf(
    'BO_ 1 M: 4 N\n SG_ A : 0|8@1+ (1,0) [0|0] "" N\n SG_ B : 23|16@0+ (1,0) [0|0] "" N\n',
  );

  test.each([
    [[], TRUNCATED, {}],
    [[1], TRUNCATED, { A: 1 }],
    // B lies in bytes 2 and 3: with three bytes it is absent, not half read.
    [[1, 2, 3], TRUNCATED, { A: 1 }],
    [[1, 2, 3, 4], 0, { A: 1, B: 0x0304 }],
    [[1, 2, 3, 4, 5], LONGER, { A: 1, B: 0x0304 }],
  ])('%j decodes what fits', (bytes, flags, raw) => {
    expect(decode(message, bytes)).toEqual([flags, raw]);
  });

  test('a CAN FD frame padded to the next possible length is not longer', () => {
    // CAN FD has no frame of 10 bytes: it travels in one of 12.
    const fd = messageOf('BO_ 1 M: 10 N\n SG_ A : 72|8@1+ (1,0) [0|0] "" N\n');
    const bytes = (length: number): number[] => Array.from({ length }, (_, index) => index);
    expect(fd.isFd).toBe(true);
    expect(decode(fd, bytes(12))).toEqual([0, { A: 9 }]);
    expect(decode(fd, bytes(16))).toEqual([LONGER, { A: 9 }]);
  });

  test('an absent value overwrites what an earlier use of the row left', () => {
    const wide = single('0|64@1+ (1,0)');
    const columns = newColumns(wide, 1);
    const decoder = compileMessage(wide);
    decoder.decodeRow(new Uint8Array(8).fill(1), 0, 8, columns, 0);
    decoder.decodeRow(new Uint8Array(8).fill(1), 0, 7, columns, 0);
    expect([columns[0]?.values[0], columns[0]?.present[0]]).toEqual([0n, 0]);
  });
});

describe('decodeRow of a multiplexed message', () => {
  const simple = messageOf(
    `BO_ 1 M: 3 N
 SG_ Page M : 0|8@1+ (1,0) [0|0] "" N
 SG_ Zero m0 : 8|8@1+ (1,0) [0|0] "" N
 SG_ Two m2 : 8|16@1+ (1,0) [0|0] "" N
`,
  );

  test.each([
    [[0, 7, 9], 0, { Page: 0, Zero: 7 }],
    [[2, 7, 1], 0, { Page: 2, Two: 0x0107 }],
    // No signal is on page 1: reported, the selector itself still decoded.
    [[1, 7, 9], UNKNOWN_SELECTOR, { Page: 1 }],
    // Page 0 needs two bytes only.
    [[0, 7], TRUNCATED, { Page: 0, Zero: 7 }],
    // Page 2 is selected, but its signal does not fit.
    [[2, 7], TRUNCATED, { Page: 2 }],
    // Without the selector nothing is known, least of all an unknown selector.
    [[], TRUNCATED, {}],
  ])('%j selects the page', (bytes, flags, raw) => {
    expect(decode(simple, bytes)).toEqual([flags, raw]);
  });

  test('ranges, several selectors and a cascade select as SG_MUL_VAL_ says', () => {
    const message = messageOf(
      `BO_ 1 M: 6 N
 SG_ Leaf m9 : 24|8@1+ (1,0) [0|0] "" N
 SG_ Top M : 0|8@1+ (1,0) [0|0] "" N
 SG_ Inner m1M : 8|8@1+ (1,0) [0|0] "" N
 SG_ Other M : 16|8@1+ (1,0) [0|0] "" N
 SG_ ByOther m0 : 32|8@1+ (1,0) [0|0] "" N
SG_MUL_VAL_ 1 Inner Top 1-1;
SG_MUL_VAL_ 1 Leaf Inner 5-6, 9-9;
SG_MUL_VAL_ 1 ByOther Other 0-255;
`,
    );
    // Top 1 → Inner 6 → Leaf; Other has its own page.
    expect(decode(message, [1, 6, 3, 44, 55, 0])).toEqual([
      0,
      { Top: 1, Inner: 6, Leaf: 44, Other: 3, ByOther: 55 },
    ]);
    // Inner 7 is in no range: 5-6 and 9-9.
    expect(decode(message, [1, 7, 3, 44, 55, 0])).toEqual([
      UNKNOWN_SELECTOR,
      { Top: 1, Inner: 7, Other: 3, ByOther: 55 },
    ]);
    // Top 2: Inner is absent, so its value in the payload selects nothing.
    expect(decode(message, [2, 6, 3, 44, 55, 0])).toEqual([
      UNKNOWN_SELECTOR,
      { Top: 2, Other: 3, ByOther: 55 },
    ]);
  });

  test('an absent selector holds no unknown value, although its row reads 0', () => {
    const message = messageOf(
      'BO_ 1 M: 2 N\n SG_ P M : 0|8@1+ (1,0) [0|0] "" N\n SG_ A m1 : 8|8@1+ (1,0) [0|0] "" N\n',
    );
    expect(decode(message, [])).toEqual([TRUNCATED, {}]);
    expect(decode(message, [0])).toEqual([TRUNCATED | UNKNOWN_SELECTOR, { P: 0 }]);
  });

  test('a selector without any signal of its own knows every value', () => {
    const message = messageOf('BO_ 1 M: 1 N\n SG_ Page M : 0|8@1+ (1,0) [0|0] "" N\n');
    expect(decode(message, [77])).toEqual([0, { Page: 77 }]);
  });
});

test('decodeRow reads from the start it is given', () => {
  const message = single('7|16@0+ (1,0)', 2);
  const columns = newColumns(message, 1);
  compileMessage(message).decodeRow(Uint8Array.of(9, 9, 1, 2, 9), 2, 2, columns, 0);
  expect(columns[0]?.values[0]).toBe(0x0102);
});

test('newColumns uses 64-bit integers from 54 bits on and doubles below and for floats', () => {
  const kind = (layout: string, extra?: string): string | undefined =>
    newColumns(single(layout, 8, extra), 1)[0]?.values.constructor.name;
  expect(kind('0|53@1+ (1,0)')).toBe('Float64Array');
  expect(kind('0|54@1+ (1,0)')).toBe('BigUint64Array');
  expect(kind('0|54@1- (1,0)')).toBe('BigInt64Array');
  expect(kind('0|64@1- (1,0)', 'SIG_VALTYPE_ 1 X : 2;')).toBe('Float64Array');
});

test('physicalValue is raw * factor + offset and is not clamped', () => {
  const message = messageOf('BO_ 1 M: 1 N\n SG_ T : 0|8@1+ (0.5,-40) [-10|50] "degC" N\n');
  const signal = must(message.signals[0], 'signal');
  // 255 * 0.5 - 40 = 87.5, above the maximum of 50.
  expect(physicalValue(signal, 255)).toBe(87.5);
  expect(physicalValue(signal, 0)).toBe(-40);
  expect(physicalValue(signal, 4n)).toBe(-38);
});

test('compileDatabase finds a message by id and kind of id', () => {
  const database = parseDbc(
    Buffer.from(
      'BO_ 291 Standard: 1 N\n\nBO_ 2147483939 Extended: 1 N\n\nBO_ 3221225471 Top: 1 N\n',
    ),
  );
  const { find } = compileDatabase(database);
  expect(find(291, false)?.message.name).toBe('Standard');
  expect(find(291, true)?.message.name).toBe('Extended');
  // 3221225471 = 0xBFFFFFFF: bit 31 marks it extended, the lower 29 bits are its id.
  expect(find(0x1fff_ffff, true)?.message.name).toBe('Top');
  expect(find(292, false)).toBeUndefined();
});

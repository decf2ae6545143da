import { expect, test } from 'vitest';
import {
  durationText,
  isWholeSeconds,
  readBool,
  readDurationMs,
  readFloat,
  readInt32,
  type GoValue,
} from './go-values.ts';

const show = <T>(read: GoValue<T>): T | string => ('value' in read ? read.value : read.fault);

test.each([
  ['0', 0],
  ['-0', 0],
  ['+5', 5],
  ['007', 7],
  ['2147483647', 2_147_483_647],
  ['-2147483648', -2_147_483_648],
  ['2147483648', 'strconv.ParseInt: parsing "2147483648": value out of range'],
  ['-2147483649', 'strconv.ParseInt: parsing "-2147483649": value out of range'],
  ['1.0', 'strconv.ParseInt: parsing "1.0": invalid syntax'],
  ['', 'strconv.ParseInt: parsing "": invalid syntax'],
  [' 1', 'strconv.ParseInt: parsing " 1": invalid syntax'],
])('readInt32 of "%s"', (text, expected) => {
  expect(show(readInt32(text))).toBe(expected);
});

test.each([
  ['1', 1],
  ['.5', 0.5],
  ['5.', 5],
  ['-1e3', -1000],
  ['+0.01', 0.01],
  ['-0', 0],
  ['1e999', 'strconv.ParseFloat: parsing "1e999": value out of range'],
  ['100}', 'strconv.ParseFloat: parsing "100}": invalid syntax'],
  ['', 'strconv.ParseFloat: parsing "": invalid syntax'],
  ['.', 'strconv.ParseFloat: parsing ".": invalid syntax'],
  // Go reads these; see the head of go-values.ts.
  ['NaN', 'strconv.ParseFloat: parsing "NaN": invalid syntax'],
  ['Inf', 'strconv.ParseFloat: parsing "Inf": invalid syntax'],
  ['0x1p4', 'strconv.ParseFloat: parsing "0x1p4": invalid syntax'],
])('readFloat of "%s"', (text, expected) => {
  expect(show(readFloat(text))).toBe(expected);
});

test.each([
  ['TRUE', true],
  ['t', true],
  ['1', true],
  ['False', false],
  ['0', false],
  ['tRUE', 'strconv.ParseBool: parsing "tRUE": invalid syntax'],
  ['yes', 'strconv.ParseBool: parsing "yes": invalid syntax'],
])('readBool of "%s"', (text, expected) => {
  expect(show(readBool(text))).toBe(expected);
});

test.each([
  ['0', 0],
  ['-0', 0],
  ['-0s', 0],
  ['6s', 6_000],
  ['2m33s', 153_000],
  ['1h', 3_600_000],
  ['-1m23s', -83_000],
  ['+1.5h', 5_400_000],
  ['.5s', 500],
  ['5.s', 5_000],
  ['61984ms', 61_984],
  ['1m9s82ms', 69_082],
  // 0.1 s + 0.2 s is 300 ms, not 300.00000000000006.
  ['0.1s0.2s', 300],
  ['1us', 0.001],
  ['1µs', 0.001],
  ['1μs', 0.001],
  ['1ns', 0.000001],
  ['', 'time: invalid duration ""'],
  ['-', 'time: invalid duration "-"'],
  ['s', 'time: invalid duration "s"'],
  ['.s', 'time: invalid duration ".s"'],
  ['not a duration', 'time: invalid duration "not a duration"'],
  ['5', 'time: missing unit in duration "5"'],
  ['1m5', 'time: missing unit in duration "1m5"'],
  ['365d', 'time: unknown unit "d" in duration "365d"'],
  ['1toString', 'time: unknown unit "toString" in duration "1toString"'],
  ['2562048h', 'time: invalid duration "2562048h"'],
])('readDurationMs of "%s"', (text, expected) => {
  expect(show(readDurationMs(text))).toBe(expected);
});

test.each([
  [0, '0s'],
  [6_000, '6s'],
  [60_000, '1m0s'],
  [3_600_000, '1h0m0s'],
  [3_601_000, '1h0m1s'],
  [61_984, '1m1.984s'],
  [-83_000, '-1m23s'],
  [500, '500ms'],
  [1.5, '1.5ms'],
  [0.5, '500µs'],
  [0.000001, '1ns'],
  [60_000.0001, '1m0.0000001s'],
])('durationText of %d ms', (ms, expected) => {
  expect(durationText(ms)).toBe(expected);
});

test('isWholeSeconds knows a fraction from none', () => {
  expect([0, 6_000, -83_000].every(isWholeSeconds)).toBe(true);
  expect([1, 61_984, 999.999].some(isWholeSeconds)).toBe(false);
});

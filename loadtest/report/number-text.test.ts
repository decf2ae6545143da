import { expect, test } from 'vitest';
import { bytesText, countText, durationText, significant } from './number-text.ts';

test.each([
  [null, '–'],
  [0.4123, '0.412 ms'],
  [41.27, '41.3 ms'],
  [999, '999 ms'],
  [1_234, '1.23 s'],
  [59_992.7, '60.0 s'],
  [90_000, '1.50 min'],
])('durationText of %j: %s', (ms, text) => {
  expect(durationText(ms)).toBe(text);
});

test.each([
  [0, '0 B'],
  [1_023, '1,023 B'],
  [1_536, '1.50 KiB'],
  [5 * 1024 ** 3, '5.00 GiB'],
  [5_000 * 1024 ** 3, '5000 GiB'],
])('bytesText of %d: %s', (bytes, text) => {
  expect(bytesText(bytes)).toBe(text);
});

test('countText and significant: no exponent', () => {
  expect(countText(98_800)).toBe('98,800');
  expect(significant(123_456)).toBe('123000');
  expect(significant(0.00042)).toBe('0.000420');
});

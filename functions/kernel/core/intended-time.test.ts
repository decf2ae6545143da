import { expect, test } from 'vitest';
import { formatIntended, parseIntended } from './intended-time.ts';

test('an intended time survives its text to the µs', () => {
  expect(formatIntended(1_767_600_000_123_456)).toBe('2026-01-05T08:00:00.123456Z');
  expect(parseIntended('2026-01-05T08:00:00.123456Z')).toBeCloseTo(1_767_600_000_123.456, 3);
  expect(parseIntended('2026-01-05T08:00:00.5Z')).toBe(1_767_600_000_500);
  expect(parseIntended('2026-01-05T08:00:00Z')).toBe(1_767_600_000_000);
});

test.each([
  [''],
  ['1767600000123'],
  ['2026-13-05T08:00:00Z'],
  ['2026-01-05T08:00:00+01:00'],
  [undefined],
])('%j is none', (text) => {
  expect(parseIntended(text)).toBeUndefined();
});

test('a repeated header is none', () => {
  expect(parseIntended(['2026-01-05T08:00:00Z', '2026-01-05T08:00:00Z'])).toBeUndefined();
});

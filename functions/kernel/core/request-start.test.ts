import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatRequestStart, parseRequestStart } from './request-start.ts';

test('the header is in seconds, to the µs', () => {
  expect(formatRequestStart(1_764_571_234_123.456)).toBe('t=1764571234.123456');
});

test('parseRequestStart reads what formatRequestStart writes, to the µs', () => {
  const epochUs = fc.integer({ min: 0, max: 4_102_444_800_000_000 });
  fc.assert(
    fc.property(epochUs, (us) => {
      const read = parseRequestStart(formatRequestStart(us / 1_000));
      expect(Math.abs((read ?? Number.NaN) * 1_000 - us)).toBeLessThanOrEqual(1);
    }),
  );
});

test.each([undefined, '', 't=1', 't=1.5', '1764571234.123456', 't=-1.000000', ['t=1.000000']])(
  'parseRequestStart of %j: none',
  (value) => {
    expect(parseRequestStart(value)).toBeUndefined();
  },
);

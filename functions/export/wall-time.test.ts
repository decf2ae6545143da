import { expect, test } from 'vitest';
import { sessionStartUs, wallTimes } from './wall-time.ts';

test('sessionStartUs + a pair 3 s into the session starts 3 s before its wall time', () => {
  expect(sessionStartUs({ monotonicUs: 3_000_000, wallUs: 1_700_000_003_000_000 })).toBe(
    1_700_000_000_000_000,
  );
});

test('sessionStartUs + a vehicle that believes in 1970 starts before it, in whole µs', () => {
  expect(sessionStartUs({ monotonicUs: 2_000_000.4, wallUs: 500_000 })).toBe(-1_500_000);
});

test('wallTimes + offsets from the start are whole µs, the year 2100 included', () => {
  const start = 4_102_444_800_000_000;
  expect([...wallTimes(Float64Array.of(0, 0.6, 1_000_001), start)]).toEqual([
    start,
    start + 1,
    start + 1_000_001,
  ]);
});

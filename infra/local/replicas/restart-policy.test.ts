import fc from 'fast-check';
import { expect, test } from 'vitest';
import { crashesInRow, restartDelayMs, RESTART_POLICY as policy } from './restart-policy.ts';

test('restartDelayMs doubles from the first delay up to the maximum', () => {
  const delays = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((count) => restartDelayMs(count, policy));
  expect(delays).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
});

test('restartDelayMs for any number of crashes is within its bounds and never shrinks', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1e9 }), (crashes) => {
      const delayMs = restartDelayMs(crashes, policy);
      expect(delayMs).toBeGreaterThanOrEqual(policy.firstDelayMs);
      expect(delayMs).toBeLessThanOrEqual(policy.maxDelayMs);
      expect(restartDelayMs(crashes + 1, policy)).toBeGreaterThanOrEqual(delayMs);
    }),
  );
});

test.each([
  ['never ready', 3, 0, 4],
  ['ready just too short', 3, 29_999, 4],
  ['ready long enough', 3, 30_000, 1],
  ['the first crash of all', 0, 0, 1],
])('crashesInRow of a process that was %s', (_, before, readyMs, expected) => {
  expect(crashesInRow(before, readyMs, policy)).toBe(expected);
});

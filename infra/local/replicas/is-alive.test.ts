import { expect, test } from 'vitest';
import { isAlive } from './is-alive.ts';

test('isAlive: this process, and one that is somebody else’s; not one that cannot be', () => {
  expect(isAlive(process.pid)).toBe(true);
  // The first process is the system's own: it is there whether we may signal it or not.
  expect(isAlive(1)).toBe(true);
  expect(isAlive(2 ** 22 + 1)).toBe(false);
});

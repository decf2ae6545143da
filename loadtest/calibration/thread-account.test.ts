import { expect, test } from 'vitest';
import { VirtualClock } from '#kernel/core/clock.ts';
import { parseSchedstat, readThreadAccount, threadState } from './thread-account.ts';

test('parseSchedstat: ns running and waiting, in ms', () => {
  expect(parseSchedstat('20916058 852838 18\n')).toEqual({ cpuMs: 20.916058, readyMs: 0.852838 });
});

test('parseSchedstat of a kernel without the account: null', () => {
  expect(parseSchedstat('')).toBeNull();
  expect(parseSchedstat('a b c')).toBeNull();
});

test('threadState of a name with spaces and brackets: the letter after the last bracket', () => {
  expect(threadState('12 (a (b) S c) R 1 2')).toBe('R');
  expect(threadState('')).toBe('');
});

test('readThreadAccount of a thread that is not there: null', async () => {
  expect(await readThreadAccount(0, new VirtualClock())).toBeNull();
});

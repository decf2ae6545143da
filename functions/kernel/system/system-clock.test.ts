import { expect, test } from 'vitest';
import { sleepFully } from './system-clock.ts';

test('sleepFully + a timer that ends early is set again for the rest', async () => {
  let nowMs = 1_000;
  const asked: number[] = [];
  const early = (ms: number): Promise<void> => {
    asked.push(ms);
    nowMs += ms === 10 ? 9.25 : ms;
    return Promise.resolve();
  };
  await sleepFully(10, () => nowMs, early);
  expect(asked).toEqual([10, 0.75]);
  expect(nowMs).toBe(1_010);
});

test.each([0, -5])('sleepFully + %s ms sets no timer', async (ms) => {
  await sleepFully(
    ms,
    () => 0,
    () => Promise.reject(new Error('a timer was set')),
  );
});

test('sleepFully + a timer that is aborted rejects with its reason', async () => {
  const stopped = sleepFully(
    5,
    () => 0,
    () => Promise.reject(new Error('stopped')),
  );
  await expect(stopped).rejects.toThrow('stopped');
});

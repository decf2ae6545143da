import { expect, test } from 'vitest';
import { systemClock } from '#kernel/system/system-clock.ts';
import { decodeBench } from './decode-bench.ts';

test('decodeBench of the recorded drive decodes its frames and compares on those that candied takes', async () => {
  const rows = await decodeBench(systemClock);
  const value = (name: string): number | undefined => rows.find((row) => row.name === name)?.value;
  // Two messages of the DBC (3,730 frames) are shorter than what the car sends, which candied refuses,
  // as it does the 60 frames of a message that it cannot find.
  expect(value('frames of the drive decoded')).toBe(31_097);
  expect(value('of these refused by candied')).toBe(3_790);
  expect(rows.filter(({ target }) => target !== undefined)).toHaveLength(2);
});

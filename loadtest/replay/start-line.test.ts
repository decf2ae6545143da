import { expect, test } from 'vitest';
import { StartLine } from './start-line.ts';

test('StartLine: starts when the last one is here or out, at the time of that', async () => {
  let nowMs = 10;
  const line = new StartLine(3, () => nowMs);
  const first = line.arrive();
  nowMs = 20;
  line.withdraw();
  nowMs = 30;
  const last = line.arrive();
  nowMs = 40;
  expect(await Promise.all([first, last])).toEqual([30, 30]);
});

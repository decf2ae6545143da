import { expect, test } from 'vitest';
import { planBatches } from './plan-batches.ts';

test('planBatches deals out in turn and marks the last batch of each vehicle', () => {
  const planned = planBatches([0, 10, 20, 30, 40], 2);
  expect(planned.map(({ vehicle, seq, end }) => [vehicle, seq, end])).toEqual([
    [0, 0, false],
    [1, 0, false],
    [0, 1, false],
    [1, 1, true],
    [0, 2, true],
  ]);
  expect(planned[3]?.intendedMs).toBe(30);
});

test('planBatches with fewer arrivals than vehicles: one each for the first', () => {
  expect(planBatches([0], 3)).toEqual([{ vehicle: 0, seq: 0, end: true, intendedMs: 0 }]);
});

test('planBatches at the most batches a session may have, and one more', () => {
  const times = Array.from({ length: 100_001 }, (_, index) => index);
  expect(planBatches(times.slice(1), 1).at(-1)).toMatchObject({ seq: 99_999, end: true });
  expect(() => planBatches(times, 1)).toThrow('at most 100000');
});

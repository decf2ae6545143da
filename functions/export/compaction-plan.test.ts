import { expect, test } from 'vitest';
import type { SessionFact, WindowFact } from '#kernel/facts/facts.ts';
import { compactionPlan, covers } from './compaction-plan.ts';

const fact = (window: number, revision: number): WindowFact =>
  ({ window, revision }) as unknown as WindowFact;
const session = (...windows: [number, number][]): SessionFact =>
  ({
    windows: windows.map(([window, revision]) => ({ window, revision })),
  }) as unknown as SessionFact;

const planned = (...given: Parameters<typeof compactionPlan>) =>
  compactionPlan(...given)?.map(({ window, revision }) => [window, revision]);

test('compactionPlan + the newest revisions are those of the session gives them ascending', () => {
  const windows = [fact(1, 1), fact(0, 2), fact(0, 1)];
  expect(planned(session([0, 2], [1, 1]), windows)).toEqual([
    [0, 2],
    [1, 1],
  ]);
});

test('compactionPlan + a window newer than the session says waits for its next closing', () => {
  expect(planned(session([0, 1]), [fact(0, 1), fact(0, 2)])).toBeUndefined();
});

test('compactionPlan + a window that is not there waits', () => {
  expect(planned(session([0, 1], [1, 1]), [fact(0, 1)])).toBeUndefined();
});

test('compactionPlan + a window the session does not name is left out', () => {
  expect(planned(session([0, 1]), [fact(0, 1), fact(1, 1)])).toEqual([[0, 1]]);
});

test('covers + a revision up to the named one is held, a later one and other windows are not', () => {
  const closing = session([3, 2]);
  expect([1, 2, 3].map((revision) => covers(closing, { window: 3, revision }))).toEqual([
    true,
    true,
    false,
  ]);
  expect(covers(closing, { window: 4, revision: 1 })).toBe(false);
});

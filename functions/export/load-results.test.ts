import { expect, test } from 'vitest';
import type { WindowFact } from '#kernel/facts/facts.ts';
import { memoryStore } from '#kernel/store/memory-store.ts';
import { loadResults } from './load-results.ts';
import { insertRecording, SESSION, VEHICLE } from './testing/session-facts.ts';

const plan = (...windows: number[]): WindowFact[] =>
  windows.map(
    (window) =>
      ({ vehicle: VEHICLE, session: SESSION, window, revision: 1 }) as unknown as WindowFact,
  );

test('loadResults + all there gives them in the order of the plan', async () => {
  const store = memoryStore();
  await insertRecording(store, 3);
  const results = await loadResults(store, plan(0, 1, 2));
  expect(results?.map(({ window }) => window)).toEqual([0, 1, 2]);
});

test('loadResults + the last one missing is found out by one look-up', async () => {
  const store = memoryStore();
  await insertRecording(store, 2);
  let asked = 0;
  const counting = {
    ...store,
    range: (...given: Parameters<typeof store.range>) => {
      asked += 1;
      return store.range(...given);
    },
  };
  expect(await loadResults(counting, plan(0, 1, 2))).toBeUndefined();
  expect(asked).toBe(1);
});

test('loadResults + more bytes than fit is refused by name and figure', async () => {
  const store = memoryStore();
  await insertRecording(store, 2);
  await expect(loadResults(store, plan(0, 1), 500)).rejects.toMatchObject({
    code: 'SESSION_TOO_LARGE',
    message: expect.stringContaining('more than the 500 that can be compacted'),
  });
});

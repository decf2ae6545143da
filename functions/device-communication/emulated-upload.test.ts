import { expect, test } from 'vitest';
import type { Batch } from '#kernel/batch/batch.ts';
import { batchOf, contentsOf, postBatch, startStage } from './testing/stage-fixture.ts';

const emulated = (changes: Partial<Batch> = {}): Batch =>
  batchOf({
    emulated: true,
    counts: { seen: 0, matched: 0, recorded: 0, dropped: {} },
    groups: [],
    ...changes,
  });

test.each([
  { kind: 'recorded', first: batchOf(), second: emulated({ seq: 1 }) },
  { kind: 'emulated', first: emulated(), second: batchOf({ seq: 1 }) },
])(
  'upload of the other kind in a session of $kind batches is refused',
  async ({ kind, first, second }) => {
    const { app, store } = await startStage();
    expect((await postBatch(app, first)).statusCode).toBe(201);
    const answer = await postBatch(app, second);
    expect(answer.statusCode).toBe(422);
    expect(answer.json()).toMatchObject({ error: { code: 'SESSION_KIND_CHANGED', kind } });
    expect(await contentsOf(store)).toEqual({ batches: 1, bindings: 1, receipts: 1 });
  },
);

test('upload of an emulated batch over more windows than a recorded one may have', async () => {
  const { app } = await startStage();
  const answer = await postBatch(app, emulated({ untilUs: 3_600_000_000 }));
  expect(answer.statusCode).toBe(201);
  expect(answer.json()).toMatchObject({ receipt: { emulated: true, frames: 0, flags: [] } });
});

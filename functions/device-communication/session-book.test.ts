import { expect, test } from 'vitest';
import {
  batchOf,
  contentsOf,
  postBatch,
  putCampaign,
  startStage,
} from './testing/stage-fixture.ts';

test('first uploads of a session for two versions at once: one is accepted', async () => {
  const { app, store } = await startStage();
  await putCampaign(store, 3, 'running');
  const answers = await Promise.all(
    [2, 3, 2, 3].map((campaignVersion, seq) => postBatch(app, batchOf({ seq, campaignVersion }))),
  );
  expect(answers.map(({ statusCode }) => statusCode).sort((a, b) => a - b)).toEqual([
    201, 201, 422, 422,
  ]);
  const refused = answers.filter(({ statusCode }) => statusCode === 422);
  for (const answer of refused) {
    expect(answer.json()).toMatchObject({ error: { code: 'SESSION_CAMPAIGN_CHANGED' } });
  }
  expect(await contentsOf(store)).toEqual({ batches: 2, bindings: 1, receipts: 2 });
});

test('upload to a session from before bindings binds it to what its receipts say', async () => {
  const { app, store, clock } = await startStage();
  await putCampaign(store, 3, 'running');
  await postBatch(app, batchOf());
  await store.removePrefix('bindings', 'veh-1/s1/', 10);
  await clock.advance(60_000);
  expect((await postBatch(app, batchOf({ seq: 1, campaignVersion: 3 }))).statusCode).toBe(422);
  expect(await contentsOf(store)).toEqual({ batches: 1, receipts: 1 });
  expect((await postBatch(app, batchOf({ seq: 2 }))).statusCode).toBe(201);
  expect(await store.get('bindings', 'veh-1/s1/campaign')).toEqual({
    vehicle: 'veh-1',
    session: 's1',
    campaign: 'brakes',
    campaignVersion: 2,
  });
});

test('uploads after the second of a session look up no binding and insert none', async () => {
  const asked: string[] = [];
  const { app } = await startStage((store) => ({
    ...store,
    get: (from, id) => (asked.push(from), store.get(from, id)),
    insert: (into, ...rest) => (asked.push(into), store.insert(into, ...rest)),
  }));
  for (let seq = 0; seq < 2; seq++) await postBatch(app, batchOf({ seq }));
  asked.length = 0;
  expect((await postBatch(app, batchOf({ seq: 2 }))).statusCode).toBe(201);
  expect(asked).toEqual(['batches', 'receipts']);
});

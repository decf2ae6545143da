import { expect, test } from 'vitest';
import { ProviderBench } from './testing/provider-bench.ts';
import { emulatedReceipt, receipt } from './testing/receipts.ts';

async function bench(): Promise<ProviderBench> {
  const made = new ProviderBench();
  await made.addCampaign();
  return made;
}

test('an emulated batch is the window of its own number and closes at once, gaps or not', async () => {
  const b = await bench();
  expect(await b.arrive(emulatedReceipt(5))).toEqual({ kind: 'done' });
  expect(await b.windows()).toMatchObject([
    {
      window: 5,
      revision: 1,
      seqs: [5],
      ownSeqs: [5],
      gaps: [],
      reason: 'covered',
      emulated: true,
      fromUs: 5_000_000,
      untilUs: 6_000_000,
    },
  ]);
  expect(b.emittedIds).toEqual(['data-provider/v1/s1/00000005/0001']);
});

test('emulated batches in any order and repeated: one window each, nothing is read back', async () => {
  const b = await bench();
  for (const seq of [2, 0, 2, 1]) await b.arrive(emulatedReceipt(seq));
  expect(await b.newestSets()).toEqual({ 0: [0], 1: [1], 2: [2] });
  expect((await b.windows()).every(({ revision }) => revision === 1)).toBe(true);
});

test('an emulated session closes with its end mark, when nothing is missing before it', async () => {
  const b = await bench();
  await b.arrive(emulatedReceipt(0));
  await b.arrive(emulatedReceipt(2, true));
  expect(await b.sessions()).toEqual([]);
  await b.arrive(emulatedReceipt(1));
  expect(await b.sessions()).toMatchObject([
    { revision: 1, reason: 'endMark', emulated: true, batches: 3, frames: 0, gaps: [] },
  ]);
});

test('a session with both kinds, which ingest lets through in a race only, is a recorded one', async () => {
  const b = await bench();
  await b.arrive(receipt(0));
  await b.arrive({ ...emulatedReceipt(1), end: true });
  const windows = await b.windows();
  expect(windows.map(({ window, emulated }) => [window, emulated])).toEqual([
    [0, undefined],
    [1, true],
  ]);
  expect((await b.sessions())[0]).not.toHaveProperty('emulated');
});

test('emulate: a window for the batch whatever else is known, the end mark closes the session', async () => {
  const b = await bench();
  const recorded = { ...receipt(3), end: true };
  await b.addReceipt(recorded);
  expect(await b.emulate(b.stored(recorded))).toEqual({ kind: 'done' });
  expect(await b.emulate(b.stored(recorded))).toEqual({ kind: 'done' });
  expect(await b.windows()).toMatchObject([{ window: 3, revision: 1, seqs: [3], emulated: true }]);
  expect(await b.sessions()).toMatchObject([{ batches: 4, lastSeq: 3, emulated: true }]);
  expect([...new Set(b.emittedIds)]).toEqual([
    'data-provider/v1/s1/00000003/0001',
    'data-provider/v1/s1/0001',
  ]);
});

test('emulate of an event whose receipt is not there yet asks to try again', async () => {
  const b = await bench();
  expect(await b.emulate(b.stored(receipt(0)))).toMatchObject({ kind: 'retry' });
});

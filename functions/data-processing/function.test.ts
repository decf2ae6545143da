import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { parseEventData } from '#eventing/contracts/event-data.ts';
import { encodeBatch } from '#kernel/batch/batch-codec.ts';
import { decodeTables } from '#kernel/columns/decode-tables.ts';
import { must } from '#kernel/core/assert.ts';
import { createDataProcessingStage } from './function.ts';
import { DBC_SHA256, DEFINITION, ProcessingBench } from './testing/processing-bench.ts';
import { batchOf, cellsOf, motion } from './testing/window-fixtures.ts';

const one = (seq = 0) => batchOf(seq, 0, 1_000_000, [motion(100_000, 20), motion(600_000, 30)]);

test('handle stores the window’s result with its provenance and announces it', async () => {
  const bench = await ProcessingBench.with(one());
  expect(await bench.handle()).toEqual({ kind: 'done' });
  const [result] = await bench.results();
  expect(result).toMatchObject({
    vehicle: 'v1',
    session: 's1',
    window: 0,
    revision: 1,
    campaign: 'c1',
    campaignVersion: 1,
    batches: ['v1/s1/00000000'],
    dbc: { can0: DBC_SHA256 },
    software: 'tachograph/1.0.0',
    fromUs: 0,
    untilUs: 1_000_000,
    frames: { recorded: 2, decoded: 2, unknownId: 0, noData: 0 },
    unsortedFrames: 0,
    duplicateFrames: 0,
    samples: 8,
  });
  const { recorded, raster, versions } = must(result, 'the result');
  expect(cellsOf(decodeTables(recorded), 'MOTION', 'SPEED')).toEqual([
    [100, 20],
    [600, 30],
  ]);
  expect(cellsOf(decodeTables(raster), 'MOTION', 'SPEED')).toHaveLength(9);
  const [event] = bench.emitted;
  expect(event).toMatchObject({
    id: `data-processing/v1/s1/00000000/0001/${versions}`,
    type: 'io.tachograph.window.processed.v1',
    subject: 'v1',
  });
  expect(parseEventData('window.processed.v1', must(event, 'the event'))).toEqual({
    vehicle: 'v1',
    session: 's1',
    window: 0,
    revision: 1,
    versions,
  });
});

test('handle of a redelivery stores nothing new and announces the same again', async () => {
  const bench = await ProcessingBench.with(one());
  await bench.handle();
  const before = await bench.results();
  expect(await bench.handle()).toEqual({ kind: 'done' });
  expect(await bench.results()).toEqual(before);
  expect(before).toHaveLength(1);
  const [first, second] = bench.emitted;
  expect(second).toMatchObject({ id: must(first, 'first event').id });
  expect(bench.warnings).toEqual([]);
});

test('handle after a failed emission stores once and announces at the next delivery', async () => {
  const bench = await ProcessingBench.with(one());
  bench.failEmissions = 1;
  await expect(bench.handle()).rejects.toThrow('no broker');
  expect(await bench.results()).toHaveLength(1);
  expect(bench.emitted).toEqual([]);
  expect(await bench.handle()).toEqual({ kind: 'done' });
  expect(await bench.results()).toHaveLength(1);
  expect(bench.emitted).toHaveLength(1);
});

test('handle by another minor version keeps the first result, says so and announces it', async () => {
  const bench = await ProcessingBench.with(one());
  await bench.handle();
  bench.software = 'tachograph/1.1.0';
  await bench.handle();
  expect(await bench.results()).toMatchObject([{ software: 'tachograph/1.0.0' }]);
  expect(bench.warnings).toEqual(['kept an earlier result that differs']);
  expect(bench.emitted).toHaveLength(2);
});

test('handle by another major version makes a result of its own', async () => {
  const bench = await ProcessingBench.with(one());
  await bench.handle();
  bench.software = 'tachograph/2.0.0';
  await bench.handle();
  expect(await bench.results()).toHaveLength(2);
  expect(new Set(bench.emitted.map((event) => event.id)).size).toBe(2);
});

test('handle of unsorted, truncated, unknown and remote frames gives an account that adds up', async () => {
  const bench = await ProcessingBench.with(
    batchOf(0, 0, 1_000_000, [
      motion(300_000, 3),
      motion(100_000, 1),
      motion(100_000, 1),
      { timeUs: 200_000, id: 100, data: [2] },
      { timeUs: 400_000, id: 777, data: [1, 2, 3] },
      { timeUs: 500_000, id: 0, data: [], kind: 'error' },
    ]),
  );
  await bench.handle();
  const [result] = await bench.results();
  expect(result).toMatchObject({
    frames: {
      recorded: 6,
      decoded: 4,
      unknownId: 1,
      noData: 1,
      truncated: 1,
      unknownIds: [{ bus: 'can0', id: 777, extended: false, frames: 1 }],
    },
    unsortedFrames: 1,
    duplicateFrames: 1,
  });
  const recorded = decodeTables(must(result, 'the result').recorded);
  expect(cellsOf(recorded, 'MOTION', 'SPEED')).toEqual([
    [100, 1],
    [100, 1],
    [200, 2],
    [300, 3],
  ]);
});

test('handle reads back into earlier batches for the raster and not for the recorded rows', async () => {
  const bench = await ProcessingBench.with();
  await bench.addBatch(batchOf(0, 0, 1_000_000, [motion(900_000, 9)]));
  await bench.addBatch(batchOf(1, 1_000_000, 2_000_000, [motion(1_250_000, 1)]));
  const span = { fromUs: 1_000_000, untilUs: 2_000_000 };
  await bench.addWindow([0, 1], { window: 1, ...span, ownSeqs: [1] });
  expect(await bench.handle({ window: 1 })).toEqual({ kind: 'done' });
  const { recorded, raster, frames, batches } = must((await bench.results())[0], 'the result');
  expect(frames.recorded).toBe(1);
  expect(batches).toEqual(['v1/s1/00000000', 'v1/s1/00000001']);
  expect(cellsOf(decodeTables(recorded), 'MOTION', 'SPEED')).toEqual([[1_250, 1]]);
  expect(cellsOf(decodeTables(raster), 'MOTION', 'SPEED').slice(0, 4)).toEqual([
    [1_000, 9],
    [1_100, 9],
    [1_200, 9],
    [1_300, 1],
  ]);
});

test('handle of a window without frames stores an empty result', async () => {
  const bench = await ProcessingBench.with(batchOf(0, 0, 1_000_000, []));
  expect(await bench.handle()).toEqual({ kind: 'done' });
  const [result] = await bench.results();
  expect(result).toMatchObject({ samples: 0, quality: [], frames: { recorded: 0 } });
  expect(decodeTables(must(result, 'the result').recorded)).toEqual([]);
});

test('handle gives byte-equal blocks whichever way the batches were compressed', async () => {
  const plain = await ProcessingBench.with(one());
  const zipped = await ProcessingBench.with();
  await zipped.addBatch(one(5), {
    contentEncoding: 'gzip',
    body: gzipSync(encodeBatch(one(5), 'cbor')),
  });
  await zipped.addBatch(batchOf(6, 1_000_000, 2_000_000, []), {
    contentType: 'application/json',
    body: encodeBatch(batchOf(6, 1_000_000, 2_000_000, []), 'json'),
  });
  await zipped.addWindow([5, 6], { revision: 2 });
  await plain.handle();
  await zipped.handle({ revision: 2 });
  const [a, b] = [(await plain.results())[0], (await zipped.results())[0]];
  expect(b?.recorded).toEqual(a?.recorded);
  expect(b?.raster).toEqual(a?.raster);
});

test('handle of a missing batch asks to try again and succeeds when it has come', async () => {
  const bench = await ProcessingBench.with(one());
  await bench.addWindow([0, 1], { revision: 2 });
  expect(await bench.handle({ revision: 2 })).toEqual({
    kind: 'retry',
    afterMs: 1_000,
    reason: 'batch v1/s1/00000001 is not stored',
  });
  expect(bench.emitted).toEqual([]);
  await bench.addBatch(batchOf(1, 1_000_000, 2_000_000, []));
  expect(await bench.handle({ revision: 2 })).toEqual({ kind: 'done' });
});

test('handle parks what cannot be used, with the reason', async () => {
  const bench = await ProcessingBench.with(one());
  expect(await bench.handle({ window: 7 })).toEqual({
    kind: 'parked',
    reason: 'windowMissing',
    detail: 'there is no window v1/s1/00000007/0001',
  });
  await bench.addWindow([0], { window: 1, campaignVersion: 2 });
  expect(await bench.handle({ window: 1 })).toMatchObject({ reason: 'campaignMissing' });
  await bench.addBatch(one(8), { body: new Uint8Array([0xff, 0xff]) });
  await bench.addWindow([8], { window: 2 });
  expect(await bench.handle({ window: 2 })).toMatchObject({
    kind: 'parked',
    reason: 'batchUnreadable',
    detail: expect.stringMatching(/^batch v1\/s1\/00000008: The body is not valid cbor/),
  });
  await bench.addBatch(one(9), { contentEncoding: 'gzip', body: new Uint8Array([1, 2, 3]) });
  await bench.addWindow([9], { window: 3 });
  expect(await bench.handle({ window: 3 })).toMatchObject({ reason: 'batchUnreadable' });
  expect(bench.emitted).toEqual([]);
  expect(await bench.results()).toEqual([]);
});

test('handle parks a window whose DBC is not in the store', async () => {
  const bench = new ProcessingBench();
  await bench.addCampaign();
  await bench.addBatch(one());
  await bench.addWindow([0]);
  expect(await bench.handle()).toEqual({
    kind: 'parked',
    reason: 'decoderMissing',
    detail: `campaign c1/000001 names the DBC ${DBC_SHA256} for bus can0`,
  });
});

test('handle parks a window with more frames than its limit', async () => {
  const bench = await ProcessingBench.with();
  const frames = Array.from({ length: 200_000 }, () => 10);
  const groups = [
    {
      bus: 'can0',
      id: 777,
      extended: false,
      kind: 'data' as const,
      timeUs: Float64Array.from(frames),
      lengths: new Uint8Array(frames.length),
      payload: new Uint8Array(0),
    },
  ];
  const seqs = [0, 1, 2, 3, 4, 5];
  for (const seq of seqs) await bench.addBatch({ ...one(seq), groups });
  await bench.addWindow(seqs, { revision: 2 });
  expect(await bench.handle({ revision: 2 })).toEqual({
    kind: 'parked',
    reason: 'windowTooLarge',
    detail: 'more than 1000000 frames by batch v1/s1/00000005; use a shorter window',
  });
  await bench.addWindow(seqs.slice(0, 5), { revision: 3 });
  expect(await bench.handle({ revision: 3 })).toEqual({ kind: 'done' });
});

test('handle parks a window whose raster exceeds a block', async () => {
  const bench = new ProcessingBench();
  await bench.addDecoder();
  const resample = { rasterMs: 1, method: 'hold', maxHoldMs: 500 } as const;
  await bench.addCampaign({
    ...DEFINITION,
    processing: { ...DEFINITION.processing, windowMs: 3_600_000, resample },
  });
  await bench.addBatch(batchOf(0, 0, 3_600_000_000, [motion(0, 1)]));
  await bench.addWindow([0], { untilUs: 3_600_000_000 });
  expect(await bench.handle()).toMatchObject({
    kind: 'parked',
    reason: 'windowTooLarge',
    detail: expect.stringMatching(/18000000 cells; a block holds at most 8388608/),
  });
});

test('handle gives up between steps when its caller goes away, and stores nothing', async () => {
  const bench = await ProcessingBench.with(one());
  const gone = AbortSignal.abort(new Error('The caller closed the connection'));
  expect(await bench.handle({}, gone)).toMatchObject({ kind: 'retry' });
  const leaving = new AbortController();
  const handled = bench.handle({}, leaving.signal);
  setImmediate(() => leaving.abort(new Error('The caller closed the connection')));
  expect(await handled).toMatchObject({ kind: 'retry', reason: 'the caller went away' });
  expect(await bench.results()).toEqual([]);
  expect(bench.emitted).toEqual([]);
});

test('handle rejects when the store is busy, so that the event is delivered again', async () => {
  const bench = await ProcessingBench.with(one());
  bench.store.get = () => Promise.reject(new Error('busy'));
  await expect(bench.handle()).rejects.toThrow('busy');
});

test('createDataProcessingStage consumes window.ready.v1 alone', () => {
  const stage = createDataProcessingStage();
  expect(stage.name).toBe('data-processing');
  expect(stage.consumes).toEqual(['io.tachograph.window.ready.v1']);
});

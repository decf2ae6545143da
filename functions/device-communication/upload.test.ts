import { gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { encodeBatch } from '#kernel/batch/batch-codec.ts';
import { MAX_INFLATED_BYTES } from '#kernel/batch/batch-limits.ts';
import { TachographError } from '#kernel/core/errors.ts';
import { batchId } from '#kernel/core/ids.ts';
import type { BatchFact, ReceiptFact } from '#kernel/facts/facts.ts';
import { readBatchFact } from '#kernel/batch/read-batch-fact.ts';
import type { Store } from '#kernel/store/store.ts';
import { sha256Hex } from '#kernel/system/sha256.ts';
import { fakeSpan } from '#kernel/telemetry/testing/fake-span.ts';
import {
  batchOf,
  CBOR,
  contentsOf,
  post,
  postBatch,
  putCampaign,
  START_MS,
  startStage,
  TOKEN,
} from './testing/stage-fixture.ts';

const ID = batchId('veh-1', 's1', 0);

test('upload of a new batch is stored, announced, answered 201 with its receipt', async () => {
  const { app, store, emitted } = await startStage();
  const body = encodeBatch(batchOf(), 'cbor');
  const answer = await post(app, body);
  expect(answer.statusCode).toBe(201);
  expect(answer.json()).toEqual({
    duplicate: false,
    receipt: {
      vehicle: 'veh-1',
      session: 's1',
      seq: 0,
      campaign: 'brakes',
      campaignVersion: 2,
      fromUs: 0,
      untilUs: 1_000_000,
      firstUs: 10,
      lastUs: 12_010,
      frames: 2,
      unsortedFrames: 0,
      seen: 5,
      matched: 3,
      recordedByVehicle: 2,
      dropped: { bufferFull: 1 },
      clock: { monotonicUs: 0, wallUs: START_MS * 1_000, source: 'gnss' },
      end: false,
      flags: [],
      sha256: sha256Hex(body),
      bodyBytes: body.length,
      receivedAtMs: START_MS,
    },
  });
  expect(await store.get('receipts', ID)).toEqual(answer.json<{ receipt: unknown }>().receipt);
  const fact = (await store.get('batches', ID)) as unknown as BatchFact;
  expect(await readBatchFact(fact)).toEqual(batchOf());
  expect(emitted).toEqual([
    {
      emission: {
        name: 'batch.stored.v1',
        factId: ID,
        subject: 'veh-1',
        data: { vehicle: 'veh-1', session: 's1', seq: 0 },
      },
      cause: undefined,
    },
  ]);
});

test.each([
  ['gzip', gzipSync],
  ['zstd', zstdCompressSync],
])(
  'upload with Content-Encoding %s is stored as sent, hashed without it',
  async (encoding, pack) => {
    const { app, store } = await startStage();
    const plain = encodeBatch(batchOf(), 'cbor');
    const body = pack(plain);
    const answer = await post(app, body, { ...CBOR, 'content-encoding': encoding });
    expect(answer.statusCode).toBe(201);
    const fact = (await store.get('batches', ID)) as unknown as BatchFact;
    expect(Buffer.compare(fact.body, body)).toBe(0);
    expect(fact.contentEncoding).toBe(encoding);
    expect(fact.sha256).toBe(sha256Hex(plain));
    expect(await readBatchFact(fact)).toEqual(batchOf());
  },
);

test('upload that is traced: the receipt tells where, the span which batch it is and its decoding', async () => {
  const { app, store, tracing } = await startStage();
  const span = fakeSpan();
  tracing.span = span;
  await postBatch(app, batchOf());
  expect(await store.get('receipts', ID)).toMatchObject({ trace: span.place.traceparent });
  expect(span.told).toEqual([
    'enter decode',
    'leave decode',
    'set tachograph.vehicle veh-1',
    'set tachograph.session s1',
    'set tachograph.seq 0',
  ]);
});

test('upload of JSON with a charset is accepted', async () => {
  const { app } = await startStage();
  const headers = { ...CBOR, 'content-type': 'application/json; charset=utf-8' };
  expect((await post(app, encodeBatch(batchOf(), 'json'), headers)).statusCode).toBe(201);
});

const CE = {
  'ce-specversion': '1.0',
  'ce-id': 'veh-1/s1/0',
  'ce-source': '/vehicles/veh-1',
  'ce-type': 'io.tachograph.batch.recorded.v1',
  'ce-subject': 'veh-1',
};

test('upload as a CloudEvent hands its extensions on to the emission', async () => {
  const { app, emitted } = await startStage();
  const headers = { ...CBOR, ...CE, 'ce-tachointended': '1234.5', 'ce-traceparent': '00-1-2-01' };
  expect((await postBatch(app, batchOf(), headers)).statusCode).toBe(201);
  expect(emitted[0]?.cause?.extensions).toMatchObject({
    tachointended: '1234.5',
    traceparent: '00-1-2-01',
  });
});

test.each([
  ['without an id', { 'ce-id': '' }, 'id'],
  ['of a foreign specversion', { 'ce-specversion': '0.3' }, 'specversion'],
  ['of another type', { 'ce-type': 'io.tachograph.batch.stored.v1' }, 'type'],
  ['of another subject', { 'ce-subject': 'veh-2' }, 'subject'],
])('upload as a CloudEvent %s is refused and nothing is stored', async (_, changes, word) => {
  const { app, store, emitted } = await startStage();
  const answer = await postBatch(app, batchOf(), { ...CBOR, ...CE, ...changes });
  expect(answer.statusCode).toBe(400);
  expect(answer.json()).toMatchObject({ error: { code: 'EVENT_INVALID' } });
  expect(answer.json<{ error: { message: string } }>().error.message).toContain(word);
  expect(await contentsOf(store)).toEqual({});
  expect(emitted).toEqual([]);
});

test('100 parallel equal uploads are stored once, 99 answered with the first receipt', async () => {
  const { app, store, emitted } = await startStage();
  const body = gzipSync(encodeBatch(batchOf(), 'cbor'));
  const headers = { ...CBOR, 'content-encoding': 'gzip' };
  const answers = await Promise.all(Array.from({ length: 100 }, () => post(app, body, headers)));
  const codes = answers.map((answer) => answer.statusCode).sort((a, b) => a - b);
  expect(codes).toEqual([...Array.from({ length: 99 }, () => 200), 201]);
  const stored = (await store.get('receipts', ID)) as unknown as ReceiptFact;
  for (const answer of answers) {
    expect(answer.json()).toEqual({ duplicate: answer.statusCode === 200, receipt: stored });
  }
  expect(await contentsOf(store)).toEqual({ batches: 1, bindings: 1, receipts: 1 });
  expect(new Set(emitted.map(({ emission }) => emission.factId))).toEqual(new Set([ID]));
  expect(emitted).toHaveLength(100);
});

test('upload repeated much later is answered with the first receipt', async () => {
  const { app, clock } = await startStage();
  const first = await postBatch(app, batchOf());
  await clock.advance(3_600_000);
  const again = await postBatch(app, batchOf());
  expect(again.statusCode).toBe(200);
  const { receipt } = first.json<{ receipt: unknown }>();
  expect(again.json()).toEqual({ duplicate: true, receipt });
});

test('upload of other content under a used key is refused and set aside, no more', async () => {
  const { app, store, emitted } = await startStage();
  await postBatch(app, batchOf());
  const before = await store.get('batches', ID);
  const answer = await postBatch(app, batchOf({ end: true }));
  expect(answer.statusCode).toBe(409);
  const firstSha256 = sha256Hex(encodeBatch(batchOf(), 'cbor'));
  expect(answer.json()).toMatchObject({
    error: { code: 'BATCH_CONFLICT', batch: ID, firstSha256 },
  });
  expect(await contentsOf(store)).toEqual({ batches: 1, bindings: 1, receipts: 1, quarantine: 1 });
  expect(await store.get('batches', ID)).toEqual(before);
  const [found] = await store.range('quarantine', '', '~', { limit: 1 });
  expect(found?.document).toMatchObject({ vehicle: 'veh-1', session: 's1', seq: 0, firstSha256 });
  expect(emitted).toHaveLength(1);
});

test('quarantine keeps at most three of ten contents under one key', async () => {
  const { app, store } = await startStage();
  for (let seen = 0; seen < 10; seen++) {
    const counts = { seen, matched: 0, recorded: 0, dropped: {} };
    const answer = await postBatch(app, batchOf({ counts }));
    expect(answer.statusCode).toBe(seen === 0 ? 201 : 409);
  }
  expect(await contentsOf(store)).toEqual({ batches: 1, bindings: 1, receipts: 1, quarantine: 3 });
});

test('quarantine keeps at most three of ten contents that come at once', async () => {
  const { app, store } = await startStage();
  await postBatch(app, batchOf());
  const others = Array.from({ length: 9 }, (_, seen) =>
    postBatch(app, batchOf({ counts: { seen, matched: 0, recorded: 0, dropped: {} } })),
  );
  const statuses = (await Promise.all(others)).map(({ statusCode }) => statusCode);
  expect(new Set(statuses)).toEqual(new Set([409]));
  expect(await contentsOf(store)).toMatchObject({ quarantine: 3 });
});

const busy = new TachographError('STORE_BUSY', { detail: 'injected' });

/** Fails the first insert into a collection, before or after it was done. */
function failingOnce(collection: string, when: 'before' | 'after') {
  let failed = false;
  return (store: Store): Store => ({
    ...store,
    insert: async (into, id, document, hash) => {
      const fails = into === collection && !failed;
      if (fails) failed = true;
      if (fails && when === 'before') throw busy;
      const outcome = await store.insert(into, id, document, hash);
      if (fails) throw busy;
      return outcome;
    },
  });
}

test.each([
  ['before the binding', 'bindings', 'before', 201, {}],
  ['after the binding', 'bindings', 'after', 201, { bindings: 1 }],
  ['before the batch', 'batches', 'before', 201, { bindings: 1 }],
  ['after the batch was written', 'batches', 'after', 200, { batches: 1, bindings: 1 }],
  ['between batch and receipt', 'receipts', 'before', 200, { batches: 1, bindings: 1 }],
  [
    'after the receipt was written',
    'receipts',
    'after',
    200,
    { batches: 1, bindings: 1, receipts: 1 },
  ],
] as const)(
  'upload whose store fails %s is answered 503 and completed by the repeat',
  async (_, collection, when, repeatStatus, left) => {
    const { app, store, clock, emitted } = await startStage(failingOnce(collection, when));
    const failed = await postBatch(app, batchOf());
    expect(failed.statusCode).toBe(503);
    expect(failed.headers['retry-after']).toBe('1');
    expect(await contentsOf(store)).toEqual(left);
    expect(emitted).toEqual([]);
    await clock.advance(5_000);
    const repeat = await postBatch(app, batchOf());
    expect(repeat.statusCode).toBe(repeatStatus);
    // The receipt is that of the stored batch, whenever it is written.
    const receivedAtMs = START_MS + ('batches' in left ? 0 : 5_000);
    expect(repeat.json()).toMatchObject({ receipt: { receivedAtMs } });
    expect(await contentsOf(store)).toEqual({ batches: 1, bindings: 1, receipts: 1 });
    expect(emitted).toHaveLength(1);
  },
);

test('upload whose announcement fails is answered 503 and announced by the repeat', async () => {
  const { app, store, emitted, sink } = await startStage();
  sink.failure = new TachographError('EMIT_FAILED', { type: 't', detail: 'injected' });
  const failed = await postBatch(app, batchOf());
  expect(failed.statusCode).toBe(503);
  expect(failed.headers['retry-after']).toBe('1');
  expect(await contentsOf(store)).toEqual({ batches: 1, bindings: 1, receipts: 1 });
  sink.failure = undefined;
  expect((await postBatch(app, batchOf())).statusCode).toBe(200);
  expect(emitted).toHaveLength(1);
});

test('upload repeated after its campaign ended stays accepted, a new one is refused', async () => {
  const { app, store, clock } = await startStage();
  await postBatch(app, batchOf());
  await putCampaign(store, 3, 'ended');
  await clock.advance(1_000);
  expect((await postBatch(app, batchOf())).statusCode).toBe(200);
  expect((await postBatch(app, batchOf({ seq: 1 }))).statusCode).toBe(422);
});

test.each([
  ['wall clock in 1970', { clock: { monotonicUs: 0, wallUs: 0, source: 'none' } }, 'clock1970'],
  [
    'wall clock in 2100',
    { clock: { monotonicUs: 0, wallUs: Date.UTC(2100, 0) * 1_000, source: 'rtc' } },
    'clockFuture',
  ],
  [
    'other count than the body has',
    { counts: { seen: 5, matched: 3, recorded: 3, dropped: {} } },
    'countMismatch',
  ],
] as const)('upload with a %s is stored and flagged', async (_, changes, flag) => {
  const { app } = await startStage();
  const answer = await postBatch(app, batchOf(changes));
  expect(answer.statusCode).toBe(201);
  expect(answer.json<{ receipt: ReceiptFact }>().receipt.flags).toEqual([flag]);
});

test('upload with frames out of order is stored, counted and flagged', async () => {
  const { app } = await startStage();
  const [group] = batchOf().groups;
  const timeUs = Float64Array.of(12_010, 10);
  const answer = await postBatch(app, batchOf({ groups: group ? [{ ...group, timeUs }] : [] }));
  expect(answer.json()).toMatchObject({
    receipt: { flags: ['framesUnsorted'], unsortedFrames: 1, firstUs: 10, lastUs: 12_010 },
  });
});

test('upload of a batch without frames has no first and last time', async () => {
  const { app } = await startStage();
  const counts = { seen: 0, matched: 0, recorded: 0, dropped: {} };
  const answer = await postBatch(app, batchOf({ groups: [], counts, end: true }));
  expect(answer.json()).toMatchObject({ receipt: { firstUs: null, lastUs: null, end: true } });
});

/** Inserts into `batches` wait until `open` is called. */
function gatedBatches() {
  let open = (): void => {};
  let arrived = (): void => {};
  const gate = new Promise<void>((resolve) => (open = resolve));
  const first = new Promise<void>((resolve) => (arrived = resolve));
  const wrap = (store: Store): Store => ({
    ...store,
    insert: async (into, ...rest) => {
      if (into === 'batches') {
        arrived();
        await gate;
      }
      return store.insert(into, ...rest);
    },
  });
  return { wrap, first, open: () => open() };
}

test('uploads beyond the memory for them wait, those beyond the queue are answered 503', async () => {
  const { wrap, first, open } = gatedBatches();
  const uploads = { maxBytes: MAX_INFLATED_BYTES, maxWaitingBytes: 10_000 };
  const { app, store } = await startStage(wrap, uploads);
  const stored = postBatch(app, batchOf());
  await first;
  // Nobody can tell from outside what zstd becomes: it borrows all there is.
  const zstd = { ...CBOR, 'content-encoding': 'zstd' };
  const others = [1, 2].map((seq) =>
    post(app, zstdCompressSync(encodeBatch(batchOf({ seq }), 'cbor')), zstd),
  );
  const refused = await Promise.race(others);
  expect(refused.statusCode).toBe(503);
  expect(refused.headers['retry-after']).toBe('1');
  expect(refused.json()).toMatchObject({ error: { code: 'UPLOADS_BUSY' } });
  open();
  const statuses = (await Promise.all([stored, ...others])).map(({ statusCode }) => statusCode);
  expect(statuses.sort((a, b) => a - b)).toEqual([201, 201, 503]);
  expect(await contentsOf(store)).toMatchObject({ batches: 2 });
  // What was lent came back, also after failures.
  for (let count = 0; count < 3; count++) {
    expect((await post(app, 'x', zstd)).statusCode).toBe(400);
  }
  expect((await postBatch(app, batchOf({ seq: 3 }))).statusCode).toBe(201);
});

test('the API description has both routes', async () => {
  const { app } = await startStage();
  const { paths } = (await app.inject('/openapi.json')).json<{ paths: Record<string, object> }>();
  expect(Object.keys(paths)).toEqual([
    '/v1/vehicles/{vehicle}/batches',
    '/v1/vehicles/{vehicle}/checkins',
  ]);
});

test('the log of a refusal names the vehicle and the code, never the token', async () => {
  const { app, logged } = await startStage();
  await postBatch(app, batchOf({ vehicle: 'veh-2' }));
  expect(logged).toEqual([
    {
      message: 'refused a request',
      fields: {
        vehicle: 'veh-1',
        path: '/v1/vehicles/veh-1/batches',
        code: 'BATCH_VEHICLE_MISMATCH',
      },
    },
  ]);
  expect(JSON.stringify(logged)).not.toContain(TOKEN);
});

import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { frameCount } from '#kernel/batch/batch.ts';
import { VirtualClock } from '#kernel/core/clock.ts';
import { recordedTracing } from '#kernel/telemetry/testing/recorded-tracing.ts';
import { cutDrive } from './cut-drive.ts';
import { vehicleIdentity } from './identities.ts';
import { VehicleAgent } from './vehicle-agent.ts';
import { answerOf, FakeGateway, recordAll } from './testing/fake-gateway.ts';
import { canFrame } from './testing/frames.ts';
import { runUntil } from './testing/run-until.ts';
import type { BatchRecord } from './batch-record.ts';
import type { AgentResult } from './vehicle-agent.ts';

/** Four seconds, a hundred frames each; the payloads hardly compress. */
const DRIVE = Array.from({ length: 400 }, (_, index) =>
  canFrame(index * 10_000, {
    data: Uint8Array.from({ length: 8 }, (_, byte) => (index * 89 + byte * 151 + index ** 2) % 251),
  }),
);

interface Run {
  readonly gateway: FakeGateway;
  readonly result: AgentResult;
  readonly records: readonly BatchRecord[];
  readonly named: ReturnType<typeof recordedTracing>['named'];
}

async function run(
  gateway: FakeGateway,
  options: { speed?: number; abortAtMs?: number; sampled?: boolean } = {},
): Promise<Run> {
  const clock = new VirtualClock();
  const abort = new AbortController();
  const records = new Map<number, BatchRecord>();
  const { tracing, named } = recordedTracing(() => clock.nowMs(), options.sampled);
  const agent = new VehicleAgent({
    identity: vehicleIdentity(1, 0),
    seed: 1,
    speed: options.speed ?? 1,
    clock,
    transport: gateway,
    gzip: (body) => Promise.resolve(gzipSync(body)),
    slicesOf: () => cutDrive(DRIVE, () => true, gateway.definition.upload.everyMs * 1_000),
    recordingStart: () => Promise.resolve(clock.monotonicMs()),
    originMs: 0,
    originWallMs: clock.nowMs(),
    onRecord: (record) => records.set(record.seq, record),
    ...(options.sampled === undefined ? {} : { tracing }),
    signal: abort.signal,
  });
  if (options.abortAtMs !== undefined) {
    void clock.sleep(options.abortAtMs).then(() => abort.abort(new Error('stopped')));
  }
  const result = await runUntil(clock, agent.run());
  return { gateway, result, records: [...records.values()], named };
}

test('VehicleAgent with a healthy service: every batch once, in order, at its time', async () => {
  const { gateway, result, records } = await run(new FakeGateway(recordAll()));
  expect(result.failure).toBeNull();
  expect(gateway.batches.map(({ seq, end }) => [seq, end])).toEqual([
    [0, false],
    [1, false],
    [2, false],
    [3, true],
  ]);
  expect(gateway.batches.map((batch) => frameCount(batch))).toEqual([100, 100, 100, 100]);
  expect(gateway.reports.map((report) => report?.state)).toEqual([undefined, 'enacted', 'done']);
  for (const { seq, intendedMs, readyMs, sentMs, ackedMs, attempts, outcome } of records) {
    expect({ attempts, outcome }).toEqual({ attempts: 1, outcome: 'stored' });
    expect(intendedMs).toBe((seq + 1) * 1_000);
    expect([readyMs, sentMs, ackedMs]).toEqual([intendedMs, intendedMs, intendedMs]);
  }
});

test('VehicleAgent at five times the speed: intended times five times as dense, same content', async () => {
  const slow = await run(new FakeGateway(recordAll()));
  const fast = await run(new FakeGateway(recordAll()), { speed: 5 });
  expect(fast.gateway.requests.map(({ body }) => body)).toEqual(
    slow.gateway.requests.map(({ body }) => body),
  );
  const [first, second] = fast.records;
  expect((second?.intendedMs ?? 0) - (first?.intendedMs ?? 0)).toBe(200);
});

test('VehicleAgent with 503 and Retry-After: waits, repeats the same bytes, loses nothing', async () => {
  const gateway = new FakeGateway(recordAll());
  gateway.respond = (seq, attempt) =>
    seq === 1 && attempt <= 2 ? answerOf(503, {}, { 'retry-after': '1' }) : undefined;
  const { records } = await run(gateway);
  const second = records[1];
  expect(second).toMatchObject({ attempts: 3, outcome: 'stored', duplicate: false });
  expect((second?.sentMs ?? 0) - (second?.firstSentMs ?? 0)).toBeGreaterThanOrEqual(2_000);
  const bodies = gateway.requests.filter(({ headers }) => headers['ce-id']?.endsWith('00000001'));
  expect(new Set(bodies.map(({ body }) => Buffer.from(body).toString('hex'))).size).toBe(1);
  expect(new Set(bodies.map(({ headers }) => headers['ce-tachointended'])).size).toBe(1);
  expect(gateway.batches.map(({ seq }) => seq)).toEqual([0, 1, 2, 3]);
});

test('VehicleAgent whose answer is lost after storing: repeats, and counts a duplicate', async () => {
  const gateway = new FakeGateway(recordAll());
  gateway.respond = (seq, attempt) => (seq === 2 && attempt === 1 ? 'lose' : undefined);
  const { records } = await run(gateway);
  expect(records[2]).toMatchObject({ attempts: 2, outcome: 'stored', duplicate: true });
  expect(gateway.batches).toHaveLength(4);
});

test('VehicleAgent with 4xx: not repeated, kept in the account, the others go on', async () => {
  const gateway = new FakeGateway(recordAll());
  gateway.respond = (seq) => (seq === 1 ? answerOf(409, { error: { code: 'X' } }) : undefined);
  const { records, result } = await run(gateway);
  expect(records.map(({ outcome, attempts }) => [outcome, attempts])).toEqual([
    ['stored', 1],
    ['refused', 1],
    ['stored', 1],
    ['stored', 1],
  ]);
  expect(records[1]?.detail).toContain('409');
  expect(result.failure).toBeNull();
});

/** Room for two batches, not for three. */
const CACHE_BYTES = 3_000;

test.each([
  ['dropNewest', 4, true],
  ['dropOldest', 4, true],
  ['stopRecording', 3, false],
] as const)(
  'VehicleAgent with a full cache and %s: %i batches, no hole, every frame accounted for',
  async (whenFull, batches, isWholeDrive) => {
    const definition = recordAll({ cache: { maxBytes: CACHE_BYTES, whenFull } });
    const gateway = new FakeGateway(definition);
    // Nothing is taken before the drive is over.
    let isOpen = false;
    gateway.respond = (seq, attempt) => {
      if (seq === 0 && attempt >= 8) isOpen = true;
      return isOpen ? undefined : answerOf(503);
    };
    const { records } = await run(gateway);
    expect(gateway.batches.map(({ seq }) => seq)).toEqual(
      Array.from({ length: batches }, (_, seq) => seq),
    );
    expect(gateway.batches.at(-1)?.end).toBe(true);
    const recorded = gateway.batches.reduce((sum, batch) => sum + frameCount(batch), 0);
    const dropped = gateway.batches.reduce(
      (sum, { counts }) => sum + (counts.dropped['bufferFull'] ?? 0),
      0,
    );
    expect(dropped).toBeGreaterThan(0);
    expect(recorded + dropped).toBe(isWholeDrive ? 400 : batches * 100);
    expect(records.filter(({ emptied }) => emptied)).toHaveLength(dropped / 100);
  },
);

test('VehicleAgent with batches over maxBatchBytes: halves them until they fit, without a hole', async () => {
  const definition = recordAll({ upload: { everyMs: 1_000, maxBatchBytes: 1_000 } });
  const { gateway } = await run(new FakeGateway(definition));
  expect(gateway.batches.length).toBeGreaterThan(4);
  expect(gateway.batches.map(({ seq }) => seq)).toEqual([...gateway.batches.keys()]);
  expect(gateway.batches.reduce((sum, batch) => sum + frameCount(batch), 0)).toBe(400);
  expect(gateway.batches.filter(({ end }) => end)).toHaveLength(1);
  for (const { body } of gateway.requests) expect(body.length).toBeLessThanOrEqual(1_000);
});

test('VehicleAgent that is stopped: what was not acknowledged is unresolved', async () => {
  const gateway = new FakeGateway(recordAll());
  gateway.respond = (seq) => (seq === 0 ? undefined : answerOf(503));
  const { records, result } = await run(gateway, { abortAtMs: 3_500 });
  expect(result.failure).toBe('the run was stopped');
  expect(records.map(({ outcome }) => outcome)).toEqual(['stored', 'unresolved', 'unresolved']);
});

test('VehicleAgent that is traced: a span a batch from its intended time, one for each attempt', async () => {
  const gateway = new FakeGateway(recordAll());
  gateway.respond = (seq, attempt) => {
    if (seq === 1 && attempt === 1) return answerOf(503, {}, { 'retry-after': '1' });
    return seq === 2 && attempt === 1 ? 'lose' : undefined;
  };
  const { records, named, gateway: asked } = await run(gateway, { sampled: true });
  const batches = named('batch');
  const uploads = named('upload');
  expect(batches.map(({ attributes }) => attributes['tachograph.seq'])).toEqual([0, 1, 2, 3]);
  for (const [seq, { start, place, endMs }] of batches.entries()) {
    const record = records[seq];
    expect(start.parent).toBeUndefined();
    expect(endMs).toBeCloseTo(
      (record?.ackedMs ?? NaN) + start.startMs - (record?.intendedMs ?? NaN),
    );
    expect(record?.traceId).toBe(place.slice(3, 35));
    const own = uploads.filter((one) => one.start.parent?.traceparent === place);
    expect(own.map(({ attributes }) => attributes['http.request.resend_count'])).toEqual(
      Array.from({ length: record?.attempts ?? 0 }, (_, attempt) => attempt),
    );
  }
  expect(uploads.map(({ failure }) => failure)).toEqual([
    undefined,
    'retry',
    undefined,
    'retry',
    undefined,
    undefined,
  ]);
  expect(batches[2]?.attributes['tachograph.duplicate']).toBe(true);
  // Each request says where it is: in its header, in the event, and where a broker blanks that.
  for (const [index, { headers }] of asked.requests.entries()) {
    const place = uploads[index]?.place;
    const said = [headers['traceparent'], headers['ce-traceparent'], headers['ce-tachotrace']];
    expect(said).toEqual([place, place, place]);
  }
});

test('VehicleAgent whose traces are not sampled: no id in the records, and the word goes along', async () => {
  const { records, gateway } = await run(new FakeGateway(recordAll()), { sampled: false });
  expect(records.map(({ traceId }) => traceId)).toEqual([null, null, null, null]);
  expect(gateway.requests[0]?.headers['traceparent']).toMatch(/-00$/);
});

test('VehicleAgent that is stopped ends the spans of what it had not sent', async () => {
  const gateway = new FakeGateway(recordAll());
  gateway.respond = () => answerOf(503);
  const { named } = await run(gateway, { sampled: true, abortAtMs: 3_500 });
  const batches = named('batch');
  expect(batches.length).toBeGreaterThan(1);
  for (const { endMs, failure } of batches) {
    expect(endMs).toBeDefined();
    expect(failure).toBe('unresolved');
  }
});

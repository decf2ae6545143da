import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { encodeBatch } from '#kernel/batch/batch-codec.ts';
import { batchId, resultId, sessionId, windowId } from '#kernel/core/ids.ts';
import { memoryStore } from '#kernel/store/memory-store.ts';
import { cutDrive } from '#loadtest/vehicles/cut-drive.ts';
import { vehicleIdentity } from '#loadtest/vehicles/identities.ts';
import { canFrame } from '#loadtest/vehicles/testing/frames.ts';
import { batchOf } from '#loadtest/vehicles/upload-request.ts';
import { readLedgerFacts } from './read-ledger-facts.ts';
import type { Fact, Store } from '#kernel/store/store.ts';
import type { LedgerFact } from './ledger-fact.ts';

const identity = vehicleIdentity(1, 0);
const { vehicle, session } = identity;

/** Two batches of two seconds, six frames a batch: with windows of one second each spans two. */
async function storeBatches(store: Store): Promise<void> {
  const frames = Array.from({ length: 12 }, (_, index) => canFrame(index * 333_000));
  const slices = cutDrive(frames, () => true, 2_000_000);
  for (const [seq, slice] of slices.entries()) {
    const batch = batchOf(identity, { campaign: 'demo', version: 1 }, slice, seq);
    const id = batchId(vehicle, session, seq);
    const times = slice.groups.flatMap(({ timeUs }) => [...timeUs]);
    await store.insert('batches', id, {
      vehicle,
      session,
      seq,
      contentType: 'application/cbor',
      contentEncoding: 'gzip',
      body: gzipSync(encodeBatch(batch, 'cbor')),
      sha256: 'ab',
      receivedAtMs: 5,
    });
    await store.insert('receipts', id, receipt(seq, times));
  }
}

const receipt = (seq: number, times: readonly number[]): Fact => ({
  vehicle,
  session,
  seq,
  frames: times.length,
  firstUs: Math.min(...times),
  lastUs: Math.max(...times),
  seen: times.length,
  matched: times.length,
  recordedByVehicle: times.length,
  dropped: { bufferFull: 3 },
  end: seq === 1,
  flags: [],
  receivedAtMs: 5,
});

const read = (store: Store, windowMs = 1_000): Promise<LedgerFact[]> =>
  Array.fromAsync(
    readLedgerFacts(store, { sessions: [{ vehicle, session }], windowUs: windowMs * 1_000 }),
  );

test('readLedgerFacts of batches over two windows: frames counted from the bodies, by window', async () => {
  const store = memoryStore();
  await storeBatches(store);
  const facts = await read(store);
  const receipts = facts.filter((fact) => fact.kind === 'receipt');
  // Frames at 0, 333, 666, 999 | 1332, 1665, 1998 | 2331 … ms; the batches are cut at 2,000 ms.
  expect(receipts.map(({ framesByWindow }) => framesByWindow)).toEqual([
    [
      [0, 4],
      [1, 3],
    ],
    [
      [2, 3],
      [3, 2],
    ],
  ]);
  expect(receipts[0]).toMatchObject({ frames: 7, dropped: { bufferFull: 3 }, end: false });
  expect(facts.filter((fact) => fact.kind === 'batch')).toHaveLength(2);
});

test('readLedgerFacts of batches inside one window: the receipt is enough', async () => {
  const store = memoryStore();
  await storeBatches(store);
  const receipts = (await read(store, 2_000)).filter((fact) => fact.kind === 'receipt');
  expect(receipts.map(({ framesByWindow }) => framesByWindow)).toEqual([[[0, 7]], [[1, 5]]]);
});

test('readLedgerFacts of a receipt without its batch: told all the same', async () => {
  const store = memoryStore();
  await store.insert('receipts', batchId(vehicle, session, 0), receipt(0, [1, 2]));
  expect(await read(store)).toMatchObject([{ kind: 'receipt', frames: 2, framesByWindow: [] }]);
});

test('readLedgerFacts of the other facts: as cards, of the sessions asked for alone', async () => {
  const store = memoryStore();
  const window = { vehicle, session, window: 0, revision: 1 };
  await store.insert('windows', windowId(vehicle, session, 0, 1), {
    ...window,
    ownSeqs: [0],
    seqs: [0],
    reason: 'covered',
  });
  const frames = { recorded: 9, decoded: 5, unknownId: 3, noData: 1 };
  await store.insert('results', resultId(vehicle, session, 0, 1, 'v1'), {
    ...window,
    frames: { ...frames, truncated: 2, unknownSelector: 1, longer: 0 },
    duplicateFrames: 0,
    unsortedFrames: 0,
    recorded: Uint8Array.of(1),
    raster: Uint8Array.of(2),
  });
  const files = [{ path: 'p', bytes: 1, rows: 2, sha256: 'ab' }];
  await store.insert('exports', `${vehicle}/${session}/session/0001`, {
    ...window,
    window: null,
    files,
  });
  const gaps = [{ firstSeq: 1, lastSeq: 2 }];
  await store.insert('sessions', sessionId(vehicle, session, 1), {
    vehicle,
    session,
    revision: 1,
    reason: 'endMark',
    batches: 1,
    frames: 9,
    gaps,
  });
  const parked = { vehicle, stage: 'export', reason: 'exhausted', detail: 'd', parkedAtMs: 1 };
  const type = 'io.tachograph.window.processed.v1';
  await store.insert('parked', `${vehicle}/export/a`, {
    ...parked,
    event: JSON.stringify({ type, data: window }),
  });
  await store.insert('parked', `${vehicle}/export/b`, {
    ...parked,
    event: JSON.stringify({ type, data_base64: 'AA==' }),
  });
  await store.insert('quarantine', `${vehicle}/${session}/00000000/cd`, {
    vehicle,
    session,
    seq: 0,
    sha256: 'cd',
  });
  await store.insert('windows', windowId('veh-0002', session, 0, 1), { ...window });
  const facts = await read(store);
  expect(facts).toEqual([
    { kind: 'window', ...window, ownSeqs: [0], reason: 'covered' },
    {
      kind: 'result',
      ...window,
      ...frames,
      truncated: 2,
      unknownSelector: 1,
      longer: 0,
      duplicateFrames: 0,
      unsortedFrames: 0,
    },
    { kind: 'export', ...window, window: null, files },
    {
      kind: 'session',
      vehicle,
      session,
      revision: 1,
      reason: 'endMark',
      batches: 1,
      frames: 9,
      gaps,
    },
    { kind: 'quarantine', vehicle, session, seq: 0, sha256: 'cd' },
    {
      kind: 'parked',
      vehicle,
      stage: 'export',
      reason: 'exhausted',
      detail: 'd',
      type,
      session,
      window: 0,
      revision: 1,
    },
    {
      kind: 'parked',
      vehicle,
      stage: 'export',
      reason: 'exhausted',
      detail: 'd',
      type,
      session: null,
      window: null,
      revision: null,
    },
  ]);
});

test('readLedgerFacts of more windows than a page: each once', async () => {
  const store = memoryStore();
  for (let window = 0; window < 250; window++) {
    const fact = { vehicle, session, window, revision: 1, ownSeqs: [], reason: 'covered' };
    await store.insert('windows', windowId(vehicle, session, window, 1), fact);
  }
  const windows = (await read(store)).flatMap((fact) =>
    fact.kind === 'window' ? fact.window : [],
  );
  expect(windows).toEqual([...Array(250).keys()]);
});

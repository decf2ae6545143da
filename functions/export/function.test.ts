import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { exportId, windowId } from '#kernel/core/ids.ts';
import type { ExportFact } from '#kernel/facts/facts.ts';
import { memoryStore } from '#kernel/store/memory-store.ts';
import type { Store } from '#kernel/store/store.ts';
import { createExportStage } from './function.ts';
import { StoreFiles } from './store-files.ts';
import { csvTableOf, duckdbTable, keyValues } from './testing/read-tables.ts';
import {
  bytesBelow,
  COMPACTED,
  filesBelow,
  newRoot,
  replica,
  sidecarIn,
} from './testing/replica.ts';
import {
  eventOf,
  insertCampaign,
  insertReceipt,
  insertRecording,
  insertResult,
  insertSession,
  insertWindow,
  insertWindowFact,
  sessionEvent,
  START_US,
  testContext,
  windowContent,
  windowEvent,
} from './testing/session-facts.ts';

const range = (firstSeq: number, lastSeq: number) => ({ firstSeq, lastSeq });

const roots: string[] = [];
afterAll(() => {
  for (const root of roots) rmSync(root, { recursive: true, force: true });
});

function rootFolder(): string {
  const root = newRoot();
  roots.push(root);
  return root;
}

test('export stage + a processed window writes its part, its fact and announces it', async () => {
  const store = memoryStore();
  await insertRecording(store, 1);
  const { folder, handle, emitted, root } = replica(store, rootFolder());
  expect(await handle(windowEvent(0))).toEqual({ kind: 'done' });
  const part = join(folder, 'parts', '00000000-0001');
  expect(filesBelow(part)).toEqual(COMPACTED.filter((name) => name !== 'session.json'));
  const fact = (await store.get('exports', 'v1/s1/00000000/0001')) as unknown as ExportFact;
  expect(fact.files.map(({ path, rows }) => [path, rows])).toContainEqual([
    'v1/s1/parts/00000000-0001/recorded/can0-MOTION.csv',
    2,
  ]);
  expect(emitted).toEqual([
    {
      name: 'dataset.exported.v1',
      factId: 'v1/s1/00000000/0001',
      subject: 'v1',
      data: {
        vehicle: 'v1',
        session: 's1',
        window: 0,
        revision: 1,
        files: 6,
        batches: [range(0, 0)],
      },
    },
  ]);
  expect(readdirSync(join(root, '+unpublished'))).toEqual([]);
});

test('export stage + all results and the end compacts to one file a message and set', async () => {
  const store = memoryStore();
  await insertRecording(store, 3);
  const { folder, handle, emitted } = replica(store, rootFolder());
  for (const window of [0, 1, 2]) await handle(windowEvent(window));
  await insertSession(store, [1, 1, 1]);
  expect(await handle(sessionEvent())).toEqual({ kind: 'done' });
  expect(filesBelow(folder)).toEqual(COMPACTED);
  const recorded = join(folder, 'recorded', 'can0-MOTION.parquet');
  const { names, rows } = await duckdbTable(recorded);
  expect(names).toEqual(['time_us', 'COUNT', 'SPEED', 'GEAR']);
  expect(rows.map((row) => [Number(row[0]) - START_US, ...row.slice(1)])).toEqual([
    [10, 0, 0, 1],
    [500_000, 0, null, 1],
    [1_000_010, 1, 1, 1],
    [1_500_000, 1, null, 1],
    [2_000_010, 2, 2, 1],
    [2_500_000, 2, null, 1],
  ]);
  const odo = csvTableOf(readFileSync(join(folder, 'recorded', 'can0-ODO.csv')));
  expect(odo.rows).toEqual([
    [START_US + 20, 2n ** 63n],
    [START_US + 2_000_020, 2n ** 63n + 2n],
  ]);
  expect(emitted.at(-1)).toEqual({
    name: 'dataset.exported.v1',
    factId: 'v1/s1/session/0001',
    subject: 'v1',
    data: {
      vehicle: 'v1',
      session: 's1',
      window: null,
      revision: 1,
      files: 6,
      batches: [range(0, 2)],
    },
  });
});

test('export stage + the end before the last result compacts with the last result', async () => {
  const store = memoryStore();
  await insertCampaign(store);
  for (const seq of [0, 1]) await insertReceipt(store, seq);
  await insertWindow(store, 0);
  await insertWindowFact(store, 1);
  await insertSession(store, [1, 1]);
  const { folder, handle } = replica(store, rootFolder());
  await handle(windowEvent(0));
  expect(await handle(sessionEvent())).toEqual({ kind: 'done' });
  expect(existsSync(join(folder, 'session.json'))).toBe(false);
  await insertResult(store, 1);
  await handle(windowEvent(1));
  expect(filesBelow(folder)).toEqual(COMPACTED);
});

test('export stage + any order of arrival and any revisions on the way gives equal bytes', async () => {
  const orderly = memoryStore();
  await insertRecording(orderly, 4);
  await insertSession(orderly, [1, 1, 1, 1]);
  const first = replica(orderly, rootFolder());
  await first.handle(sessionEvent());
  const expected = bytesBelow(first.folder);
  expect(Object.keys(expected)).toHaveLength(6);
  const step = fc.constantFrom(...[0, 1, 2, 3].map((window) => ({ window })));
  await fc.assert(
    fc.asyncProperty(
      fc.shuffledSubarray([0, 1, 2, 3], { minLength: 4 }),
      fc.array(step, { maxLength: 4 }),
      fc.nat(4),
      async (order, late, closeAfter) => {
        const store = memoryStore();
        await insertCampaign(store);
        const lateWindows = new Set(late.map(({ window }) => window));
        const { folder, handle } = replica(store, rootFolder());
        // Late windows have other values first; the revision that counts comes after the first end.
        for (const [at, window] of order.entries()) {
          await insertReceipt(store, window, { receivedAtMs: 5_000 + at });
          await insertWindow(
            store,
            window,
            1,
            windowContent(window, lateWindows.has(window) ? 9 : 0),
          );
        }
        for (const [at, window] of order.entries()) {
          if (at === closeAfter) await insertSession(store, [1, 1, 1, 1]);
          await handle(windowEvent(window));
        }
        if (closeAfter === 4) await insertSession(store, [1, 1, 1, 1]);
        await handle(sessionEvent());
        for (const window of lateWindows) {
          await insertWindow(store, window, 2);
          await handle(windowEvent(window, 2));
        }
        if (lateWindows.size > 0) {
          const revisions = [0, 1, 2, 3].map((window) => (lateWindows.has(window) ? 2 : 1));
          await insertSession(store, revisions, 2);
          await handle(sessionEvent(2));
        }
        expect(bytesBelow(folder)).toEqual(expected);
      },
    ),
    { numRuns: 15 },
  );
});

test('export stage + a late revision compacts anew, and the sidecar tells of it', async () => {
  const store = memoryStore();
  await insertRecording(store, 2);
  await insertSession(store, [1, 1]);
  const { folder, handle, emitted } = replica(store, rootFolder());
  await handle(sessionEvent());
  const before = bytesBelow(folder);
  await insertWindow(store, 1, 2, windowContent(1, 5));
  await handle(windowEvent(1, 2));
  // The session's closing that names the revision is not there yet: the part is, the files wait.
  expect(filesBelow(folder)).toContain('parts/00000001-0002/recorded/can0-MOTION.csv');
  expect(bytesBelow(join(folder, 'recorded'))['can0-MOTION.csv']).toBe(
    before['recorded/can0-MOTION.csv'],
  );
  await insertSession(store, [1, 2], 2);
  await handle(sessionEvent(2));
  expect(filesBelow(folder)).toEqual(COMPACTED);
  expect(bytesBelow(folder)).not.toEqual(before);
  expect(sidecarIn(folder)['revision']).toBe(2);
  expect(emitted.map(({ factId }) => factId)).toEqual([
    'v1/s1/session/0001',
    'v1/s1/00000001/0002',
    'v1/s1/session/0001',
    'v1/s1/session/0002',
  ]);
});

test('export stage + a window of a compacted session is announced and makes no part', async () => {
  const store = memoryStore();
  await insertRecording(store, 2);
  await insertSession(store, [1, 1]);
  const { folder, handle, emitted } = replica(store, rootFolder());
  await handle(sessionEvent());
  expect(await handle(windowEvent(1))).toEqual({ kind: 'done' });
  expect(filesBelow(folder)).toEqual(COMPACTED);
  expect(emitted.map(({ data }) => data)).toContainEqual({
    vehicle: 'v1',
    session: 's1',
    window: 1,
    revision: 1,
    files: 0,
    batches: [range(1, 1)],
  });
  const facts = await Promise.all(
    [1, null].map((at) => store.get('exports', exportId('v1', 's1', at, 1))),
  );
  expect(facts).toMatchObject([{ files: [], withSession: true }, { withSession: false }]);
});

test('export stage + files kept in the store have the bytes of files in a folder', async () => {
  const store = memoryStore();
  await insertRecording(store, 2);
  const { folder, handle } = replica(store, rootFolder());
  const stage = createExportStage({ filesUrl: 'store:', engineerTokenSha256: 'a'.repeat(64) });
  const { signal } = new AbortController();
  const context = testContext(store);
  await stage.handle(windowEvent(0), context, signal);
  const parts = await new StoreFiles(store).list('v1', 's1', 100);
  expect(parts.map(({ path }) => path)).toContain(
    'v1/s1/parts/00000000-0001/recorded/can0-MOTION.csv',
  );
  await insertSession(store, [1, 1]);
  await stage.handle(sessionEvent(), context, signal);
  await stage.handle(windowEvent(1), context, signal);
  await handle(sessionEvent());
  const files = new StoreFiles(store);
  const listed = await files.list('v1', 's1', 100);
  expect(listed.map(({ path }) => path.slice('v1/s1/'.length))).toEqual(COMPACTED);
  for (const { path, bytes } of listed) {
    const file = await files.open(path);
    const pieces: Uint8Array[] = [];
    for await (const piece of file?.read(0, bytes) ?? []) pieces.push(piece);
    expect(Buffer.concat(pieces)).toEqual(readFileSync(join(folder, '../..', path)));
  }
  expect(context.emitted.map(({ factId }) => factId)).toEqual([
    'v1/s1/00000000/0001',
    'v1/s1/session/0001',
    'v1/s1/00000001/0001',
    'v1/s1/session/0001',
  ]);
});

test('export stage + the file says where it comes from and not how it arrived', async () => {
  const store = memoryStore();
  await insertRecording(store, 1);
  await insertSession(store, [1]);
  const { folder, handle } = replica(store, rootFolder());
  await handle(sessionEvent());
  const metadata = keyValues(readFileSync(join(folder, 'recorded', 'can0-MOTION.parquet')));
  expect(metadata).toMatchObject({
    'tachograph.schema': 'tachograph.table/1',
    'tachograph.vehicle': 'v1',
    'tachograph.session': 's1',
    'tachograph.campaign': 'c1',
    'tachograph.campaignVersion': '3',
    'tachograph.message': 'MOTION',
    'tachograph.set': 'recorded',
  });
  expect(JSON.parse(metadata['tachograph.signals'] ?? '')).toContainEqual({
    column: 'GEAR',
    signal: 'GEAR',
    unit: '',
    factor: 1,
    offset: 0,
    valueType: 'unsigned',
    bitLength: 2,
    labels: { 0: 'P', 1: 'D' },
  });
  expect(JSON.stringify(metadata)).not.toMatch(/received|revision/i);
});

test.each([
  ['no result', windowEvent(7), 'resultMissing'],
  ['a session nobody closed', sessionEvent(), undefined],
])('export stage + %s is parked or left alone', async (_what, event, reason) => {
  const store = memoryStore();
  await insertRecording(store, 1);
  const { handle, emitted } = replica(store, rootFolder());
  const outcome = await handle(event);
  expect(outcome.kind === 'parked' ? outcome.reason : undefined).toBe(reason);
  expect(emitted).toEqual([]);
});

test('export stage + a missing campaign, decoder or receipt parks the event with its name', async () => {
  const store = memoryStore();
  await insertReceipt(store, 0);
  await insertWindow(store, 0);
  await insertSession(store, [1]);
  const { handle } = replica(store, rootFolder());
  expect(await handle(windowEvent(0))).toMatchObject({ reason: 'campaignMissing' });
  expect(await handle(sessionEvent())).toMatchObject({ reason: 'campaignMissing' });
  await insertCampaign(store);
  const without = (collection: string): Store => ({
    ...store,
    get: async (from, id) => (from === collection ? undefined : store.get(from, id)),
    range: async (from, ...rest) => (from === collection ? [] : store.range(from, ...rest)),
  });
  for (const event of [windowEvent(0), sessionEvent()]) {
    const outcome = await handle(event, { store: without('decoders') });
    expect(outcome).toMatchObject({ reason: 'decoderMissing' });
  }
  for (const event of [windowEvent(0), sessionEvent()]) {
    const outcome = await handle(event, { store: without('receipts') });
    expect(outcome).toMatchObject({ reason: 'receiptMissing' });
  }
  const outcome = await handle(windowEvent(0), { store: without('windows') });
  expect(outcome).toMatchObject({ reason: 'windowMissing' });
});

test('export stage + announcements name the batches that the data hold, gaps left out', async () => {
  const store = memoryStore();
  await insertRecording(store, 2);
  const id = windowId('v1', 's1', 1, 2);
  const late = { window: 1, revision: 2, seqs: [0, 1, 2, 4], ownSeqs: [1, 2, 4] };
  const closed = await store.get('windows', windowId('v1', 's1', 1, 1));
  await store.insert('windows', id, { ...closed, ...late });
  await insertResult(store, 1, 2);
  const { handle, emitted } = replica(store, rootFolder());
  await handle(windowEvent(0));
  await handle(windowEvent(1, 2));
  await insertSession(store, [1, 2], 1, { lastSeq: 5, gaps: [range(3, 3), range(5, 5)] });
  await handle(sessionEvent());
  expect(emitted.map(({ data }) => data)).toMatchObject([
    { window: 0, batches: [range(0, 0)] },
    { window: 1, batches: [range(1, 2), range(4, 4)] },
    { window: null, batches: [range(0, 2), range(4, 4)] },
  ]);
});

test('export stage + more ranges of batches than an event may name are not named', async () => {
  const store = memoryStore();
  await insertRecording(store, 1);
  const { handle, emitted } = replica(store, rootFolder());
  const gaps = (count: number) => Array.from({ length: count }, (_, at) => range(2 * at, 2 * at));
  await insertSession(store, [1], 1, { lastSeq: 1_999, gaps: gaps(1_000) });
  await handle(sessionEvent());
  await insertSession(store, [1], 2, { lastSeq: 2_001, gaps: gaps(1_001) });
  await handle(sessionEvent(2));
  const named = emitted.map(({ data }) => (data as { batches: readonly unknown[] }).batches.length);
  expect(named).toEqual([1_000, 0]);
});

test('export stage + data that is no event of its type is refused', async () => {
  const { handle } = replica(memoryStore(), rootFolder());
  const event = eventOf('session.closed.v1', { vehicle: '../v', session: 's', revision: 1 });
  await expect(handle(event)).rejects.toMatchObject({ code: 'EVENT_INVALID' });
});

test('export stage + a campaign that asks for CSV alone writes CSV alone', async () => {
  const store = memoryStore();
  await insertCampaign(store, { formats: ['csv'], values: 'raw' });
  await insertReceipt(store, 0);
  await insertWindow(store, 0);
  const { folder, handle } = replica(store, rootFolder());
  await handle(windowEvent(0));
  const part = join(folder, 'parts', '00000000-0001');
  expect(filesBelow(part)).toEqual(COMPACTED.filter((name) => name.endsWith('.csv')));
  const { rows } = csvTableOf(readFileSync(join(part, 'recorded', 'can0-MOTION.csv')));
  expect(rows.map((row) => row[2])).toEqual([0, null]);
});

test('export stage + a caller that goes away is asked to come again, and leaves nothing', async () => {
  const store = memoryStore();
  await insertRecording(store, 1);
  const root = rootFolder();
  const stage = createExportStage({
    filesUrl: `folder:${root}`,
    engineerTokenSha256: 'a'.repeat(64),
  });
  const gone = AbortSignal.abort(new Error('gone'));
  const outcome = await stage.handle(windowEvent(0), testContext(store), gone);
  expect(outcome).toEqual({ kind: 'retry', afterMs: 0, reason: 'the caller went away' });
  expect(filesBelow(root)).toEqual([]);
  expect(readdirSync(join(root, '+unpublished'))).toEqual([]);
});

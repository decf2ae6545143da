import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { StageName } from '#eventing/contracts/catalog.ts';
import type { Batch } from '#kernel/batch/batch.ts';
import { randomStream } from '#kernel/core/random.ts';
import { ledger } from '#loadtest/ledger/ledger.ts';
import { readLedgerFacts } from '#loadtest/ledger/read-ledger-facts.ts';
import { exampleRecord } from '#loadtest/ledger/testing/example-run.ts';
import { MemoryPipeline, type Weather } from '#loadtest/testing/memory-pipeline.ts';
import { cutDrive } from '#loadtest/vehicles/cut-drive.ts';
import { loadDrive } from '#loadtest/vehicles/drive.ts';
import { vehicleIdentity } from '#loadtest/vehicles/identities.ts';
import { batchOf } from '#loadtest/vehicles/upload-request.ts';
import { emulatedBatch } from './emulated-vehicle.ts';

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const IDENTITY = vehicleIdentity(1, 0);
const DEMO = { campaign: 'demo', campaignVersion: 3 };

const emulated = (count: number): Batch[] =>
  Array.from({ length: count }, (_, seq) =>
    emulatedBatch(IDENTITY, DEMO, { seq, end: seq === count - 1 }, 1_767_600_000_000_000),
  );

/** Uploads, delivers everything, and gives the account of it and what was written. */
async function run(
  batches: readonly Batch[],
  { weather, emulating }: { weather?: Weather; emulating?: readonly StageName[] } = {},
) {
  const root = mkdtempSync(join(tmpdir(), 'tachograph-emulated-'));
  folders.push(root);
  const pipeline = await MemoryPipeline.start(root, weather, undefined, emulating);
  for (const batch of batches) expect(await pipeline.upload(batch)).toBeLessThan(300);
  await pipeline.drain();
  const scope = { sessions: [IDENTITY], windowUs: 1_000_000 };
  const facts = await Array.fromAsync(readLedgerFacts(pipeline.store, scope));
  await pipeline.close();
  const seqs = new Set(batches.map(({ seq }) => seq));
  const { vehicle, session } = IDENTITY;
  const records = [...seqs].map((seq) => exampleRecord(seq, { vehicle, session }));
  return { ...ledger({ records, facts }), files: readdirSync(root, { recursive: true }) };
}

async function recorded(seconds: number): Promise<Batch[]> {
  const { frames } = await loadDrive('examples/drive/drive-60s.candump.gz');
  const short = frames.filter(({ timeUs }) => timeUs < seconds * 1_000_000);
  const slices = cutDrive(short, () => true, 1_000_000);
  return slices.map((slice, seq) =>
    batchOf(IDENTITY, { campaign: 'demo', version: 3 }, slice, seq),
  );
}

test('emulated batches run through all stages, are accounted for, and make no files', async () => {
  const { account, problems, files } = await run(emulated(5));
  expect(problems).toEqual([]);
  expect(account).toMatchObject({
    balanced: true,
    batches: { sent: 5, stored: 5, inWindows: 5, waiting: 0 },
    windows: { closed: 5, processed: 5, exported: 5 },
    frames: { recorded: 0, decoded: 0, unprocessed: 0 },
    gaps: [],
  });
  expect(files).toEqual([]);
});

test.each([1, 2, 3])(
  'emulated batches and events in random order with duplicates: the same account (seed %d)',
  async (seed) => {
    const random = randomStream(seed, 'emulated');
    const batches = emulated(6);
    const order = [...batches, ...batches.slice(2)].toSorted(() => random.next() - 0.5);
    const { account, problems } = await run(order, { weather: { random, repeatShare: 0.3 } });
    expect(problems).toEqual([]);
    expect(account.windows).toMatchObject({ closed: 6, processed: 6, exported: 6 });
  },
);

test('a lost emulated batch holds no other one up, and is missing in the account', async () => {
  const { account, problems } = await run(emulated(4).filter(({ seq }) => seq !== 1));
  expect(account.windows).toMatchObject({ closed: 3, processed: 3, exported: 3 });
  expect(account.gaps).toMatchObject([{ firstSeq: 1, lastSeq: 1, planned: false }]);
  expect(problems.join()).toContain('batches 1 to 1 are missing');
});

test.each<readonly StageName[]>([
  ['data-provider'],
  ['data-processing'],
  ['export'],
  ['data-provider', 'data-processing', 'export'],
])(
  'emulated batches with demands in place of the work of %s %s %s: all come out',
  async (...of) => {
    const { account, problems } = await run(emulated(4), { emulating: of });
    expect(problems).toEqual([]);
    expect(account.windows).toMatchObject({ closed: 4, processed: 4, exported: 4 });
  },
);

test.each<readonly StageName[]>([['data-provider'], ['data-processing']])(
  'recorded batches with a demand in place of the work of %s: their frames are unprocessed',
  async (...of) => {
    const { account, problems } = await run(await recorded(3), { emulating: of });
    expect(problems).toEqual([]);
    expect(account.windows).toMatchObject({ closed: 3, processed: 3, exported: 3 });
    const { recorded: all, decoded, unprocessed } = account.frames;
    expect({ decoded, unprocessed }).toEqual({ decoded: 0, unprocessed: all });
    expect(all).toBeGreaterThan(1_000);
  },
);

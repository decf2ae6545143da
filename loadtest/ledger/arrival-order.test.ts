import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Batch } from '#kernel/batch/batch.ts';
import { randomStream, type Random } from '#kernel/core/random.ts';
import { readPrefix } from '#kernel/store/read-prefix.ts';
import type { WindowFact } from '#kernel/facts/facts.ts';
import { compactedFiles, MemoryPipeline, type Weather } from '#loadtest/testing/memory-pipeline.ts';
import { cutDrive } from '#loadtest/vehicles/cut-drive.ts';
import { loadDrive } from '#loadtest/vehicles/drive.ts';
import { vehicleIdentity } from '#loadtest/vehicles/identities.ts';
import { batchOf } from '#loadtest/vehicles/upload-request.ts';

const SECONDS = 6;
const folders: string[] = [];
let batches: readonly Batch[] = [];
let orderly: Record<string, string> = {};

const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), 'tachograph-order-'));
  folders.push(made);
  return made;
};

beforeAll(async () => {
  const { frames } = await loadDrive('examples/drive/drive-60s.candump.gz');
  const short = frames.filter(({ timeUs }) => timeUs < SECONDS * 1_000_000);
  const slices = cutDrive(short, () => true, 1_000_000);
  const campaign = { campaign: 'demo', version: 3 };
  batches = slices.map((slice, seq) => batchOf(vehicleIdentity(1, 0), campaign, slice, seq));
  orderly = await run(batches.map((batch) => [batch]));
});

afterAll(() => {
  for (const one of folders) rmSync(one, { recursive: true, force: true });
});

/** Uploads the groups one after the other; between two groups everything is delivered and time passes. */
async function run(
  groups: readonly (readonly Batch[])[],
  weather: Weather = 'fair',
  afterGroup: (pipeline: MemoryPipeline) => Promise<void> = async () => {},
): Promise<Record<string, string>> {
  const root = folder();
  const pipeline = await MemoryPipeline.start(root, weather);
  for (const group of groups) {
    for (const batch of group) expect(await pipeline.upload(batch)).toBeLessThan(300);
    await pipeline.drain();
    await afterGroup(pipeline);
  }
  await pipeline.close();
  return compactedFiles(root);
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  const left = [...items];
  return items.map(() => left.splice(random.below(left.length), 1)[0] as T);
}

test('orderly run exports both sets of every message', () => {
  expect(Object.keys(orderly).length).toBeGreaterThan(100);
  expect(Object.keys(orderly)).toContain(
    'veh-0001/' + vehicleIdentity(1, 0).session + '/recorded/can0-STEER_ANGLE_SENSOR.parquet',
  );
});

test.each([1, 2, 3])(
  'batches and events in random order with duplicates give the orderly files (seed %d)',
  async (seed) => {
    const random = randomStream(seed, 'arrival-order');
    const order = shuffled([...batches, ...batches.slice(0, 3)], random);
    expect(await run([order], { random, repeatShare: 0.3 })).toEqual(orderly);
  },
);

test('batch delayed past the grace time gives the orderly files by new revisions', async () => {
  const [first, second, delayed, ...rest] = batches;
  if (first === undefined || second === undefined || delayed === undefined) throw new Error('few');
  const revisions: number[] = [];
  const files = await run([[first, second, ...rest], [delayed]], 'fair', async (pipeline) => {
    await pipeline.clock.advance(60_000);
    pipeline.tick();
    await pipeline.drain();
    let windows = 0;
    for await (const found of readPrefix<WindowFact>(pipeline.store, 'windows', '')) {
      windows = Math.max(windows, found.document.revision);
    }
    revisions.push(windows);
  });
  expect(revisions).toEqual([1, 2]);
  expect(files).toEqual(orderly);
});

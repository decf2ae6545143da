import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { natsForTests } from '#eventing/testing/nats-for-tests.ts';
import { systemClock } from '#kernel/system/system-clock.ts';
import { sha256Hex } from '#kernel/system/sha256.ts';
import { checkSummary } from '#loadtest/results/check-summary.ts';
import { deriveSummary, readRunRecords } from '#loadtest/results/run-records.ts';
import { runDemo, type DemoOptions } from './run-demo.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const nats = await natsForTests();
const run = test.skipIf(nats.binary === undefined);
const results = await mkdtemp(join(tmpdir(), 'tachograph-demo-'));
afterAll(() => rm(results, { recursive: true }));

const options = (change: Partial<DemoOptions> = {}): DemoOptions => ({
  root,
  results,
  overlay: 'infra/kubernetes/overlays/local',
  vehicles: 2,
  speed: 20,
  seed: 1,
  drivePath: join(root, 'examples/drive/drive-60s.candump.gz'),
  campaignPath: join(root, 'examples/campaigns/demo.yaml'),
  keepStore: false,
  env: process.env,
  platform: { name: process.platform, architecture: process.arch },
  clock: systemClock,
  randomBytes,
  signal: new AbortController().signal,
  onNote: () => undefined,
  onProgress: () => undefined,
  progressEveryMs: 1_000,
  ...change,
});

/** Every data file of an export with its hash; the sidecar tells times and is not one. */
async function dataFiles(folder: string): Promise<ReadonlyMap<string, string>> {
  const root = join(folder, 'export');
  const names = await readdir(root, { recursive: true });
  const files = names.filter((name) => /\.(parquet|csv)$/.test(name)).sort();
  const hashes = files.map(
    async (name) => [name, sha256Hex(await readFile(join(root, name)))] as const,
  );
  return new Map(await Promise.all(hashes));
}

run('runDemo twice with one seed: valid, every frame, byte-identical files', async () => {
  const first = await runDemo(options());
  expect(first.summary.problems).toEqual([]);
  expect(first.summary).toMatchObject({
    valid: true,
    ledger: {
      balanced: true,
      batches: { sent: 120, stored: 120, inWindows: 120 },
      windows: { closed: 120, processed: 120, exported: 120 },
      frames: { recorded: 2 * 98_800, droppedByVehicle: 0, unprocessed: 0 },
      gaps: [],
    },
  });
  expect(await readlink(first.latest)).toBe(basename(first.folder));

  // Every stored batch has its whole trace, from the vehicle through the broker to the exported file.
  const { traces } = first.summary;
  expect(traces).toMatchObject({
    expected: 120,
    complete: 120,
    incomplete: 0,
    orphanSpans: 0,
    droppedSpans: 0,
    clockFaults: 0,
  });
  // What no phase covers: an account of moments, not a speed, so that a busy machine changes nothing.
  expect(traces?.residualPctP99).toBeLessThanOrEqual(1);

  // Everything in the summary follows from the raw files.
  const written: unknown = JSON.parse(await readFile(join(first.folder, 'summary.json'), 'utf8'));
  const rebuilt = deriveSummary(await readRunRecords(first.folder)).summary;
  expect(checkSummary(written)).toEqual(rebuilt);

  const second = await runDemo(options({ speed: 40 }));
  const files = await dataFiles(first.folder);
  expect(files.size).toBeGreaterThan(100);
  expect(await dataFiles(second.folder)).toEqual(files);
});

run(
  'runDemo that is stopped while vehicles send: everything ends, the folder is marked',
  async () => {
    const abort = new AbortController();
    const before = await readlink(join(results, 'latest'));
    const stopped = runDemo(
      options({
        speed: 1,
        signal: abort.signal,
        progressEveryMs: 100,
        onProgress: (progress) => {
          if (progress.some(({ acknowledged }) => acknowledged > 0)) {
            abort.abort(new Error('Interrupted'));
          }
        },
      }),
    );
    await expect(stopped).rejects.toThrow('Interrupted');
    expect(await readlink(join(results, 'latest'))).toBe(before);
    const folder = (await readdir(results))
      .filter((name) => name.endsWith('-demo'))
      .sort()
      .at(-1);
    const mark = await readFile(join(results, folder ?? '', 'INVALID'), 'utf8');
    expect(mark).toContain('Interrupted');
  },
);

run('runDemo with a drive that is not there: nothing is started, no folder is made', async () => {
  const notes: string[] = [];
  const before = await readdir(results);
  const failing = runDemo(
    options({ drivePath: join(results, 'no.log'), onNote: (line) => notes.push(line) }),
  );
  await expect(failing).rejects.toThrow(/The drive .*no\.log cannot be read \(ENOENT\)/);
  expect(notes).toEqual([]);
  expect(await readdir(results)).toEqual(before);
});

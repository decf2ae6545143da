import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { natsForTests } from '#eventing/testing/nats-for-tests.ts';
import { startCluster, type LocalCluster } from '#infra/local/cluster.ts';
import { silentLog } from '#kernel/system/log.ts';
import { sha256Hex } from '#kernel/system/sha256.ts';
import { systemClock } from '#kernel/system/system-clock.ts';
import { checkSummary } from '#loadtest/results/check-summary.ts';
import { deriveSummary, readRunRecords } from '#loadtest/results/run-records.ts';
import { runLoad } from './run-load.ts';
import { runningPipeline, type RunningPipeline } from './running-pipeline.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const nats = await natsForTests();
const run = test.skipIf(nats.binary === undefined);
const TOKEN = 'engineers-of-this-test';

let folder = '';
let storeUrl = '';
let cluster: LocalCluster | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tachograph-load-'));
  storeUrl = `sqlite:${join(folder, 'store.db')}`;
  if (nats.binary === undefined) return;
  cluster = await startCluster({
    root,
    overlay: 'infra/kubernetes/overlays/local',
    dataDir: folder,
    configMaps: {
      tachograph: {
        'store-url': storeUrl,
        'files-url': `folder:${join(folder, 'export')}`,
        'demand-data-processing': 'cpuTime:20ms@instead',
        'demand-data-provider': 'payload:2KiB@after',
      },
    },
    secrets: { 'tachograph-engineer': { 'token-sha256': sha256Hex(TOKEN) } },
    controlTokenSha256: sha256Hex(TOKEN),
    env: process.env,
    log: silentLog,
  });
});

afterAll(async () => {
  await cluster?.stop();
  await rm(folder, { recursive: true, force: true });
});

function pipeline(): RunningPipeline {
  if (cluster === undefined) throw new Error('The cluster did not start');
  const { gatewayUrl, brokerUrl } = cluster;
  return runningPipeline({ gatewayUrl, brokerUrl, storeUrl, engineerToken: TOKEN });
}

const load = () => ({
  root,
  results: join(folder, 'results'),
  pipeline: pipeline(),
  vehicles: 3,
  arrivals: { kind: 'poisson', ratePerS: 10 } as const,
  durationMs: 1_000,
  seed: 1,
  env: {},
  clock: systemClock,
  signal: new AbortController().signal,
  onNote: () => undefined,
  onProgress: () => undefined,
  progressEveryMs: 1_000,
});

run(
  'runLoad twice on one pipeline: all comes out, and the bursts of the demand are reported',
  async () => {
    const first = await runLoad(load());
    // A machine that is busy with other things may make the generator late; nothing else may be wrong.
    const problems = first.summary.problems.filter((problem) => !/keep up/.test(problem));
    expect(problems).toEqual([]);
    const { sent } = first.summary.ledger.batches;
    expect(sent).toBeGreaterThan(3);
    expect(first.summary.ledger).toMatchObject({
      balanced: true,
      batches: { stored: sent, inWindows: sent },
      windows: { closed: sent, processed: sent, exported: sent },
      frames: { recorded: 0 },
    });
    const processing = first.summary.stages['data-processing'];
    expect(processing).toMatchObject({
      delivered: sent,
      bursts: { n: sent, aborted: 0, lost: 0, kinds: { 'cpuTime@instead': sent } },
    });
    // CPU time, by the burner's own clock: what else the machine does adds none.
    for (const { kind, cpuMs } of first.records.bursts) {
      if (kind === 'cpuTime') expect(cpuMs).toBeGreaterThan(19.9);
    }
    expect(first.records.config).toMatchObject({
      kind: 'Run',
      demands: {
        'data-processing': { demand: 'cpuTime:20ms@instead', placement: 'inline' },
        'data-provider': { demand: 'payload:2KiB@after' },
      },
    });

    const written: unknown = JSON.parse(await readFile(join(first.folder, 'summary.json'), 'utf8'));
    expect(checkSummary(written)).toEqual(
      deriveSummary(await readRunRecords(first.folder)).summary,
    );
    expect(await readdir(first.folder)).toContain('bursts.ndjson');
    expect(await readFile(first.report, 'utf8')).toContain('<h2>Demands</h2>');

    // The same seed has the same load; the pipeline tells the two runs apart.
    const second = await runLoad(load());
    expect(second.summary.ledger.batches.sent).toBe(sent);
    expect(second.summary.stages['data-processing']).toMatchObject({ bursts: { n: sent } });
    const { triggers } = (await pipeline().status()).eventing;
    expect(Object.keys(triggers).filter((name) => name.startsWith('load-'))).toEqual([]);
  },
);

run(
  'runLoad that is interrupted: marks its folder, removes its Trigger, ends its campaign',
  async () => {
    const abort = new AbortController();
    const stopped = runLoad({
      ...load(),
      durationMs: 60_000,
      signal: abort.signal,
      progressEveryMs: 50,
      onProgress: (progress) => {
        if (progress.some(({ acknowledged }) => acknowledged > 0)) abort.abort(new Error('Stop'));
      },
    });
    await expect(stopped).rejects.toThrow('Stop');
    const { triggers } = (await pipeline().status()).eventing;
    expect(Object.keys(triggers).filter((name) => name.startsWith('load-'))).toEqual([]);
    const folders = (await readdir(join(folder, 'results'))).filter((name) => name !== 'latest');
    const mark = await readFile(
      join(folder, 'results', folders.sort().at(-1) ?? '', 'INVALID'),
      'utf8',
    );
    expect(mark).toContain('Stop');
  },
);

import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { natsForTests } from '#eventing/testing/nats-for-tests.ts';
import { systemClock } from '#kernel/system/system-clock.ts';
import { checkSummary } from '#loadtest/results/check-summary.ts';
import { deriveSummary, readRunRecords } from '#loadtest/results/run-records.ts';
import { readExperiment } from './read-experiment.ts';
import { runExperiment } from './run-experiment.ts';
import type { RunResult } from './run-result.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const nats = await natsForTests();
const run = test.skipIf(nats.binary === undefined);

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tachograph-experiment-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** One arrival after 0.5 s of nothing, then four a second: data-processing is busy with each for 0.5 s. */
const SMALL = `apiVersion: tachograph/v1
kind: Run
name: small
pipeline:
  stages:
    data-processing: { demand: delay:500ms@instead, containerConcurrency: 1, replicas: 2, maxInFlight: 4 }
load:
  profile: emulated
  vehicles: 2
  arrivals:
    step: { process: constant, levels: [{ ratePerS: 0, forS: 0.5 }, { ratePerS: 4, forS: 2 }] }
  settleWithinS: 60
policies:
  kpa:
    annotations: { autoscaling.knative.dev/window: 6s }
    configAutoscaler: { scale-to-zero-grace-period: 6s }
  fixed: { replicas: 1 }
arms: [{ name: kpa, policy: kpa }]
`;

const start = (text: string): Promise<RunResult> =>
  runExperiment({
    experiment: readExperiment(text, 'small.yaml'),
    root,
    results: join(folder, 'results'),
    keepStore: false,
    env: process.env,
    platform: { name: process.platform, architecture: process.arch },
    clock: systemClock,
    randomBytes,
    signal: new AbortController().signal,
    onNote: () => undefined,
    onProgress: () => undefined,
    progressEveryMs: 1_000,
  });

const STAGES = ['campaign', 'device-communication', 'data-provider', 'data-processing', 'export'];

run(
  'runExperiment + kpa: from zero, all comes out, back to zero, all told in the summary',
  async () => {
    const { summary, folder: made, records } = await start(SMALL);
    // A machine that is busy with other things may make the generator late; nothing else may be wrong.
    expect(summary.problems.filter((problem) => !/keep up/.test(problem))).toEqual([]);
    expect(summary).toMatchObject({
      kind: 'Run',
      name: 'small',
      policy: 'kpa',
      ledger: { balanced: true, batches: { sent: 8, stored: 8 }, windows: { exported: 8 } },
    });
    for (const stage of STAGES) {
      expect([stage, summary.stages[stage]]).toMatchObject([
        stage,
        { zeroBefore: true, backToZero: true },
      ]);
    }
    const processing = summary.stages['data-processing'];
    expect(processing).toMatchObject({ delivered: 8 });
    const {
      replicasMax = 0,
      coldStarts = 0,
      replicaSeconds = 0,
      cpuSeconds = 0,
    } = processing as Exclude<typeof processing, { vehicles: number } | undefined>;
    expect(replicasMax).toBeGreaterThanOrEqual(1);
    expect(coldStarts).toBeGreaterThanOrEqual(1);
    expect(replicaSeconds).toBeGreaterThan(1);
    expect(cpuSeconds).toBeGreaterThan(0);
    // Nobody has asked for the campaign since the load began.
    expect(summary.stages['campaign']).toMatchObject({ coldStarts: 0, replicaSeconds: 0 });
    expect(records.config).toMatchObject({ experiment: { name: 'small' }, policy: 'kpa' });
    expect(records.config.scaledBy?.map(({ service }) => service).sort()).toEqual(
      STAGES.toSorted(),
    );
    expect(await readdir(join(made, 'manifests'))).toContain('kustomization.yaml');
    // The folder alone gives the same summary.
    const written: unknown = JSON.parse(await readFile(join(made, 'summary.json'), 'utf8'));
    expect(checkSummary(written)).toEqual(deriveSummary(await readRunRecords(made)).summary);
  },
);

run('runExperiment + fixed: the replicas asked for, from before the load to the end', async () => {
  const { summary } = await start(SMALL.replace('policy: kpa }', 'policy: fixed }'));
  expect(summary.problems.filter((problem) => !/keep up/.test(problem))).toEqual([]);
  expect(summary.policy).toBe('fixed');
  expect(summary.stages['data-processing']).toMatchObject({
    replicasMax: 2,
    coldStarts: 0,
    zeroBefore: false,
    backToZero: false,
  });
  expect(summary.stages['export']).toMatchObject({ replicasMax: 1 });
});

run('runExperiment + what no manifest may say: refused with the place in the folder', async () => {
  const text = SMALL.replace('window: 6s', 'window: 5s');
  await expect(start(text)).rejects.toThrow(
    /-small-kpa\S*\/manifests\/kpa-\S+\.yaml:\d+: .*window/,
  );
  const [last = ''] = (await readdir(join(folder, 'results'))).sort().reverse().slice(1);
  expect(await readdir(join(folder, 'results', last))).toContain('INVALID');
});

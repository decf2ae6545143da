import { mkdir, writeFile } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { TachographError } from '#kernel/core/errors.ts';
import { finishResult } from './finish-result.ts';
import type { Enforcement } from '#infra/local/replicas/replica-groups.ts';
import { must } from '#kernel/core/assert.ts';
import { formatDemand } from '#kernel/demand/format-demand.ts';
import { parseDemands } from '#kernel/demand/parse-demand.ts';
import { readScaledBy } from '#loadtest/results/policy-rows.ts';
import {
  createResultFolder,
  MANIFESTS_FOLDER,
  markInvalid,
} from '#loadtest/results/result-folder.ts';
import { readScaling, readTraces } from '#loadtest/results/run-records.ts';
import { BurstCollector } from './burst-collector.ts';
import { collectBursts } from './collect-bursts.ts';
import { EXPERIMENT_OVERLAY, experimentOverlay } from './experiment-overlay.ts';
import { policyText, type Experiment } from './experiment.ts';
import { loadPipeline, runIdOf, type LoadOutcome } from './load-pipeline.ts';
import { loadRecords } from './load-records.ts';
import { nextSampleMs } from './next-sample.ts';
import {
  awaitClusterRest,
  withOwnCluster,
  type OwnCluster,
  type OwnClusterOptions,
} from './own-cluster.ts';
import { runningPipeline } from './running-pipeline.ts';
import type { ClusterStatus } from '#infra/local/cluster.ts';
import type { SessionProgress } from '#loadtest/replay/export-tracker.ts';
import type { RunRecords } from '#loadtest/results/run-records.ts';
import type { RunResult } from './run-result.ts';

export interface ExperimentOptions extends Omit<
  OwnClusterOptions,
  'overlay' | 'files' | 'settings'
> {
  readonly experiment: Experiment;
  /** Folder of all results. */
  readonly results: string;
  /** Keep store and streams in the result folder, also of a run that went well. */
  readonly keepStore: boolean;
  readonly onProgress: (progress: readonly SessionProgress[]) => void;
  readonly progressEveryMs: number;
}

/**
 * One trial of an experiment on a cluster of its own: from rest, the load, the way back to rest, the
 * account. A run that does not end leaves its folder marked INVALID with the reason.
 */
export async function runExperiment(options: ExperimentOptions): Promise<RunResult> {
  const { experiment, results, clock } = options;
  const startedMs = clock.nowMs();
  const policy = policyText(experiment.arm.policy);
  const name = `${experiment.name}-${basename(policy).replace(/\.\w+$/, '')}`;
  const folder = await createResultFolder(results, name, startedMs);
  try {
    const files = experimentOverlay(experiment);
    await writeManifests(folder, files);
    const cluster = {
      ...options,
      overlay: EXPERIMENT_OVERLAY,
      files,
      settings: demandSettings(experiment),
    };
    const trial = await withOwnCluster(cluster, folder, (own) =>
      runTrial(own, options, folder, runIdOf(startedMs)),
    );
    // What the cluster wrote down is complete when it has stopped.
    const records: RunRecords = {
      ...trial,
      ...(await readScaling(folder)),
      ...(await readTraces(folder)),
    };
    return await finishResult(folder, records, options);
  } catch (error) {
    const told = inManifestsOf(folder, error, options);
    await markInvalid(folder, `The run did not end: ${String(told)}`);
    throw told;
  }
}

/** A fault in what the experiment made of the manifests stands in the result folder's copy. */
function inManifestsOf(folder: string, error: unknown, { root }: ExperimentOptions): unknown {
  if (!(error instanceof TachographError) || error.code !== 'MANIFEST_INVALID') return error;
  const { at = '', detail = '' } = error.fields;
  const place = String(at);
  if (!place.startsWith(`${EXPERIMENT_OVERLAY}/`)) return error;
  const copy = join(folder, MANIFESTS_FOLDER, place.slice(EXPERIMENT_OVERLAY.length + 1));
  const shown = { at: relative(root, copy), detail };
  return new TachographError('MANIFEST_INVALID', shown, { cause: error });
}

async function writeManifests(
  folder: string,
  files: Readonly<Record<string, string>>,
): Promise<void> {
  await mkdir(join(folder, MANIFESTS_FOLDER));
  for (const [path, text] of Object.entries(files)) {
    await writeFile(join(folder, MANIFESTS_FOLDER, basename(path)), text);
  }
}

/** As `tachograph up --demand` gives them. */
function demandSettings({ stages, seed }: Experiment): Readonly<Record<string, string>> {
  const demands = Object.entries(stages).flatMap(([stage, { demand }]) =>
    demand === undefined
      ? []
      : [[`demand-${stage}`, parseDemands(demand).map(formatDemand).join(' ')]],
  );
  return { ...Object.fromEntries(demands), 'demand-seed': String(seed) };
}

async function runTrial(
  own: OwnCluster,
  options: ExperimentOptions,
  folder: string,
  runId: string,
): Promise<RunRecords> {
  const { experiment, root, clock, onNote, signal } = options;
  const { cluster, engineerToken, storeUrl, natsVersion } = own;
  const { gatewayUrl, brokerUrl } = cluster;
  const { load, seed } = experiment;
  const scaledBy = await readScaledBy(folder);
  const measured = { fromMs: 0, untilMs: 0 };
  const rest = (what: string): Promise<void> =>
    awaitClusterRest(own, scaledBy, load.settleWithinMs, what, options);
  const pipeline = runningPipeline({ gatewayUrl, brokerUrl, storeUrl, engineerToken });
  const collector = new BurstCollector((after) => pipeline.bursts(after));
  let loadEndMs = 0;
  let end: ClusterStatus | undefined;
  const outcome = await loadPipeline(
    { ...options, ...load, seed, runId, pipeline, ...(own.tracing && { tracing: own.tracing }) },
    {
      before: async () => {
        requireEnforced(experiment, (await cluster.status()).enforcement);
        await rest('Waiting until the stages are at rest');
        await collector.begin();
        measured.fromMs = await nextSampleMs(folder, clock, signal);
        loadEndMs = clock.monotonicMs() + load.durationMs;
        onNote('The load begins');
      },
      beside: (ended) => collectBursts(collector, options, ended),
      after: async () => {
        await collector.poll();
        // The load may end with a quiet time, which belongs to it.
        await clock.sleep(loadEndMs - clock.monotonicMs(), signal);
        await rest('All is out; waiting until the stages are at rest again');
        measured.untilMs = await nextSampleMs(folder, clock, signal);
        end = await cluster.status();
      },
      endCampaign: false,
    },
  );
  const { enforcement, recordProblems } = must(end, 'the status at the end of the load');
  const records = await trialRecords(outcome, options, {
    root,
    storeUrl,
    natsVersion,
    scaledBy,
    collector,
  });
  const problems = [...records.run.problems, ...recordProblems];
  return { ...records, run: { ...records.run, measured, enforcement, problems } };
}

/** A study of limits or of nodes says nothing where they do not hold. */
function requireEnforced({ stages, arm }: Experiment, enforcement: Enforcement): void {
  if (enforcement.cpu !== 'none') return;
  const limited = Object.entries(stages).filter(([, { resources }]) => resources?.cpuLimit);
  const needs = [
    ...limited.map(([stage]) => `the CPU limit of ${stage}`),
    ...(arm.policy.kind === 'node' ? ['the CPU shares of nodes'] : []),
  ];
  if (needs.length === 0) return;
  const fields = { what: needs.join(' and '), why: enforcement.why };
  throw new TachographError('LIMITS_NOT_ENFORCED', fields);
}

interface TrialFacts {
  readonly root: string;
  readonly storeUrl: string;
  readonly natsVersion: string | null;
  readonly scaledBy: Awaited<ReturnType<typeof readScaledBy>>;
  readonly collector: BurstCollector;
}

async function trialRecords(
  outcome: LoadOutcome,
  { experiment, clock }: ExperimentOptions,
  { scaledBy, collector, ...facts }: TrialFacts,
): Promise<RunRecords> {
  const { name, seed, load, arm } = experiment;
  const records = await loadRecords(outcome, {
    ...facts,
    ...load,
    name,
    seed,
    clock,
    demands: collector.demands,
    bursts: collector.records,
    burstsLost: collector.lost,
  });
  const policy = policyText(arm.policy);
  return { ...records, config: { ...records.config, policy, scaledBy, experiment } };
}

import { openStore } from '#kernel/store/open-store.ts';
import { MAX_OUTSTANDING, driveEmulated } from '#loadtest/emulated/drive-emulated.ts';
import { emulatedCampaign } from '#loadtest/emulated/emulated-campaign.ts';
import { emulatedVehicle } from '#loadtest/emulated/emulated-vehicle.ts';
import { readLedgerFacts } from '#loadtest/ledger/read-ledger-facts.ts';
import { exportTrigger, listenForExports } from '#loadtest/replay/export-sink.ts';
import { writeReport } from '#loadtest/report/write-report.ts';
import { checkSummary } from '#loadtest/results/check-summary.ts';
import { readEnvironment } from '#loadtest/results/environment.ts';
import {
  createResultFolder,
  markInvalid,
  publishResult,
  SUMMARY_FILE,
  writeJson,
} from '#loadtest/results/result-folder.ts';
import { deriveSummary, writeRunRecords } from '#loadtest/results/run-records.ts';
import { UndiciTransport } from '#loadtest/vehicles/undici-transport.ts';
import { BurstCollector } from './burst-collector.ts';
import { engineerClient } from './engineer-client.ts';
import { stagesSince, stageSummaries } from './stage-summaries.ts';
import type { DatasetExported } from '#eventing/contracts/catalog.ts';
import type { Clock } from '#kernel/core/clock.ts';
import type { Arrivals } from '#loadtest/arrivals/arrival-times.ts';
import type { EmulatedVehicle } from '#loadtest/emulated/emulated-vehicle.ts';
import type { SessionProgress } from '#loadtest/replay/export-tracker.ts';
import type { ReplayLimits, ReplayResult } from '#loadtest/replay/replay.ts';
import type { LoadConfig, RunOutcome, RunRecords } from '#loadtest/results/run-records.ts';
import type { RunResult } from './run-result.ts';
import type { RunningPipeline } from './running-pipeline.ts';

export interface LoadOptions {
  /** The repository, and the folder of all results. */
  readonly root: string;
  readonly results: string;
  readonly pipeline: RunningPipeline;
  readonly vehicles: number;
  readonly arrivals: Arrivals;
  readonly durationMs: number;
  readonly seed: number;
  readonly limits?: ReplayLimits;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onNote: (line: string) => void;
  readonly onProgress: (progress: readonly SessionProgress[]) => void;
  readonly progressEveryMs: number;
}

/** A stage keeps 20,000 rows: at 1,000 bursts a second this reads ten times as often as needed. */
const COLLECT_EVERY_MS = 2_000;

/**
 * Sends emulated batches to a pipeline that runs, waits until everything came out, and writes a result
 * folder. The pipeline goes on running; the run's campaign has ended and its Trigger is gone. A run that
 * does not end leaves its folder marked INVALID with the reason.
 */
export async function runLoad(options: LoadOptions): Promise<RunResult> {
  const { clock, results, signal } = options;
  const startedMs = clock.nowMs();
  const folder = await createResultFolder(results, 'emulated', startedMs);
  try {
    const records = await loadPipeline(options, runIdOf(startedMs));
    options.onNote('Checking the ledger and writing the report');
    await writeRunRecords(folder, records);
    const { summary } = deriveSummary(records);
    await writeJson(folder, SUMMARY_FILE, checkSummary(summary));
    const report = await writeReport(folder, records);
    signal.throwIfAborted();
    return { folder, latest: await publishResult(folder), report, summary, records };
  } catch (error) {
    await markInvalid(folder, `The run did not end: ${String(error)}`);
    throw error;
  }
}

/** `20261130t224301123z`: a name part that no other run of the pipeline has. */
const runIdOf = (startedMs: number): string =>
  new Date(startedMs).toISOString().replaceAll(/[-:.]/g, '').toLowerCase();

async function loadPipeline(options: LoadOptions, runId: string): Promise<RunRecords> {
  const { pipeline, signal } = options;
  const vehicles = Array.from({ length: options.vehicles }, (_, index) =>
    emulatedVehicle(index, runId),
  );
  const names = vehicles.map(({ vehicle }) => vehicle);
  const campaignUrl = pipeline.serviceUrl('campaign');
  const { engineerToken } = pipeline.address;
  const engineer = engineerClient(campaignUrl, engineerToken, signal);
  const campaign = await engineer.runCampaign(emulatedCampaign(`emulated-${runId}`, names));
  options.onNote(`Campaign ${campaign.campaign} is running`);
  try {
    const tokens = new Map<string, string>();
    for (const vehicle of names) tokens.set(vehicle, await engineer.issueToken(vehicle));
    const collector = new BurstCollector((stage, after) => pipeline.bursts(stage, after));
    const before = await pipeline.status();
    await collector.begin(before.services.map(({ name }) => name));
    const stagesBefore = await stageSummaries(before);
    const { campaign: id, version, definitionSha256, definition } = campaign;
    const load = { vehicles, tokens, campaign: { campaign: id, campaignVersion: version } };
    const result = await sendAll(options, load, collector, runId);
    const stages = stagesSince(stagesBefore, await stageSummaries(await pipeline.status()));
    const config = configOf(options, collector, {
      campaign: id,
      version,
      definitionSha256,
      definition,
    });
    return await collectRecords(options, config, outcomeOf(result, stages, collector), {
      records: result.records,
      bursts: collector.records,
    });
  } finally {
    // Also when the run was stopped, which the client's own signal would forbid.
    const last = engineerClient(campaignUrl, engineerToken, new AbortController().signal);
    await attempt(`end the campaign ${campaign.campaign}`, options, () =>
      last.endCampaign(campaign.campaign),
    );
  }
}

interface SentLoad {
  readonly vehicles: readonly EmulatedVehicle[];
  readonly tokens: ReadonlyMap<string, string>;
  readonly campaign: { readonly campaign: string; readonly campaignVersion: number };
}

async function sendAll(
  options: LoadOptions,
  { vehicles, tokens, campaign }: SentLoad,
  collector: BurstCollector,
  runId: string,
): Promise<ReplayResult> {
  const { pipeline } = options;
  const trigger = `load-${runId}`;
  const transport = new UndiciTransport({
    serviceUrl: pipeline.serviceUrl('device-communication'),
    tokens,
    connections: MAX_OUTSTANDING,
  });
  const closers: (() => Promise<void>)[] = [() => transport.close()];
  const ended = new AbortController();
  const collecting = collectUntil(ended.signal, collector, options);
  let result: ReplayResult;
  try {
    result = await driveEmulated({
      ...options,
      vehicles,
      campaign,
      transport,
      subscribe: async (onExport: (data: DatasetExported) => void) => {
        const sink = await listenForExports(onExport);
        closers.push(() => sink.close());
        await pipeline.addTrigger(exportTrigger(trigger, pipeline.address.brokerUrl, sink.uri));
        closers.unshift(() => pipeline.removeTrigger(trigger));
      },
    });
  } finally {
    ended.abort();
    // The trigger first, so that no delivery meets a sink that is closed.
    for (const close of closers) await attempt('clean up', options, close);
    await collecting;
  }
  await collector.poll();
  return result;
}

/** What is done at the end, also of a run that failed: its own failure must not hide that one. */
async function attempt(
  what: string,
  { onNote }: LoadOptions,
  action: () => Promise<void>,
): Promise<void> {
  try {
    await action();
  } catch (error) {
    onNote(`Could not ${what}: ${String(error)}`);
  }
}

/** Never rejects: a reading that failed is made up for by the next one, and the last one is not here. */
async function collectUntil(
  signal: AbortSignal,
  collector: BurstCollector,
  { clock, onNote }: LoadOptions,
): Promise<void> {
  while (!signal.aborted) {
    await collector.poll().catch((error: unknown) => {
      onNote(`Bursts could not be read; the next reading makes up for it: ${String(error)}`);
    });
    // Ends by the signal alone.
    await clock.sleep(COLLECT_EVERY_MS, signal).catch(() => undefined);
  }
}

const configOf = (
  { vehicles, seed, arrivals, durationMs }: LoadOptions,
  { demands }: BurstCollector,
  campaign: LoadConfig['campaign'],
): LoadConfig => ({
  schema: 'tachograph.config/1',
  kind: 'Run',
  name: 'emulated',
  vehicles,
  seed,
  load: { profile: 'emulated', arrivals, durationMs },
  demands,
  campaign,
});

const outcomeOf = (
  result: ReplayResult,
  stages: RunOutcome['stages'],
  { lost }: BurstCollector,
): RunOutcome => ({
  schema: 'tachograph.run/1',
  startedAt: new Date(result.originWallMs).toISOString(),
  durationMs: result.durationMs,
  announcements: result.announcements,
  vehicles: result.agents,
  problems: result.problems,
  stages,
  burstsLost: lost,
});

async function collectRecords(
  { root, clock, pipeline }: LoadOptions,
  config: LoadConfig,
  run: RunOutcome,
  raw: Pick<RunRecords, 'records' | 'bursts'>,
): Promise<RunRecords> {
  const store = await openStore(pipeline.address.storeUrl, clock);
  try {
    const windowUs = config.campaign.definition.processing.windowMs * 1_000;
    const scope = { sessions: run.vehicles, windowUs };
    const facts = await Array.fromAsync(readLedgerFacts(store, scope));
    return { config, run, environment: await readEnvironment(root, null), facts, ...raw };
  } finally {
    await store.close();
  }
}

import { createResultFolder, markInvalid } from '#loadtest/results/result-folder.ts';
import type { Log } from '#kernel/system/log.ts';
import { readTraces } from '#loadtest/results/run-records.ts';
import { copySpans, readAccount } from '#loadtest/tracing/copy-spans.ts';
import { startGeneratorTracing } from '#loadtest/tracing/generator-tracing.ts';
import { BurstCollector } from './burst-collector.ts';
import { collectBursts } from './collect-bursts.ts';
import { loadPipeline, runIdOf, type LoadOutcome, type PipelineLoad } from './load-pipeline.ts';
import { loadRecords } from './load-records.ts';
import { finishResult } from './finish-result.ts';
import type { RunRecords } from '#loadtest/results/run-records.ts';
import type { RunResult } from './run-result.ts';

export interface LoadOptions extends Omit<PipelineLoad, 'runId'> {
  /** The repository, and the folder of all results. */
  readonly root: string;
  readonly results: string;
  /** The standard variables of tracing. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Sends emulated batches to a pipeline that runs, waits until everything came out, and writes a result
 * folder. The pipeline goes on running; the run's campaign has ended and its Trigger is gone. A run that
 * does not end leaves its folder marked INVALID with the reason.
 */
export async function runLoad(options: LoadOptions): Promise<RunResult> {
  const { clock, results } = options;
  const startedMs = clock.nowMs();
  const folder = await createResultFolder(results, 'emulated', startedMs);
  try {
    const records = await loadTraced(options, folder, runIdOf(startedMs));
    return await finishResult(folder, records, { ...options, keepStore: true });
  } catch (error) {
    await markInvalid(folder, `The run did not end: ${String(error)}`);
    throw error;
  }
}

/** The pipeline keeps everybody's spans; the run's own are copied from there. */
async function loadTraced(
  options: LoadOptions,
  folder: string,
  runId: string,
): Promise<RunRecords> {
  const { pipeline, clock, signal, env, onNote } = options;
  const { traces } = pipeline.address;
  const before = traces === undefined ? undefined : await readAccount(traces.url);
  const log = noteLog(onNote);
  const tracing = await startGeneratorTracing({ spansUrl: traces?.url, env, clock, log });
  let records: RunRecords;
  try {
    records = await loadRunning({ ...options, ...(tracing && { tracing }) }, runId);
  } finally {
    await tracing?.stop(FLUSH_MS);
  }
  if (traces === undefined || before === undefined || tracing === undefined) return records;
  onNote('Waiting for the last spans');
  await clock.sleep(SPANS_WITHIN_MS, signal);
  const traceIds = records.records.flatMap(({ traceId }) => traceId ?? []);
  const after = await readAccount(traces.url);
  await copySpans({ fromDir: traces.dir, toDir: folder, traceIds, before, after });
  return { ...records, ...(await readTraces(folder)) };
}

/** What the exporter has to say is said once; there is no log of this process to keep it in. */
const noteLog = (onNote: (line: string) => void): Log => ({
  info: () => {},
  warn: (message, fields) => onNote(`${message} ${JSON.stringify(fields ?? {})}`),
  error: (message, fields) => onNote(`${message} ${JSON.stringify(fields ?? {})}`),
});

/** How long the generator's last spans may take. */
const FLUSH_MS = 5_000;
/** A stage that goes on running sends its spans every 5 s. */
const SPANS_WITHIN_MS = 6_000;

async function loadRunning(options: LoadOptions, runId: string): Promise<RunRecords> {
  const { pipeline } = options;
  const collector = new BurstCollector((after) => pipeline.bursts(after));
  const outcome: LoadOutcome = await loadPipeline(
    { ...options, runId },
    {
      before: () => collector.begin(),
      beside: (signal) => collectBursts(collector, options, signal),
      after: () => collector.poll(),
      endCampaign: true,
    },
  );
  return loadRecords(outcome, {
    ...options,
    name: 'emulated',
    storeUrl: pipeline.address.storeUrl,
    natsVersion: null,
    demands: collector.demands,
    bursts: collector.records,
    burstsLost: collector.lost,
  });
}

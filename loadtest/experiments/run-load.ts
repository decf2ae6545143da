import { createResultFolder, markInvalid } from '#loadtest/results/result-folder.ts';
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
    const records = await loadRunning(options, runIdOf(startedMs));
    return await finishResult(folder, records, { ...options, keepStore: true });
  } catch (error) {
    await markInvalid(folder, `The run did not end: ${String(error)}`);
    throw error;
  }
}

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

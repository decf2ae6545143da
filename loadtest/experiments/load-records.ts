import { openStore } from '#kernel/store/open-store.ts';
import { readLedgerFacts } from '#loadtest/ledger/read-ledger-facts.ts';
import { readEnvironment } from '#loadtest/results/environment.ts';
import type { Clock } from '#kernel/core/clock.ts';
import type { Arrivals } from '#loadtest/arrivals/arrival-times.ts';
import type { BurstRecord, StageDemandConfig } from '#loadtest/results/burst-record.ts';
import type { LoadConfig, RunOutcome, RunRecords } from '#loadtest/results/run-records.ts';
import type { LoadOutcome } from './load-pipeline.ts';

/** What the records of a load hold beside its outcome. */
export interface LoadRecordsInput {
  readonly root: string;
  readonly name: string;
  readonly vehicles: number;
  readonly seed: number;
  readonly arrivals: Arrivals;
  readonly durationMs: number;
  readonly storeUrl: string;
  readonly natsVersion: string | null;
  readonly demands: Readonly<Record<string, StageDemandConfig>>;
  readonly bursts: readonly BurstRecord[];
  readonly burstsLost: Readonly<Record<string, number>>;
  readonly clock: Clock;
}

/** Reads the facts of the run's sessions from the store and puts the raw records together. */
export async function loadRecords(
  outcome: LoadOutcome,
  input: LoadRecordsInput,
): Promise<RunRecords & { readonly config: LoadConfig }> {
  const { result, campaign, stages } = outcome;
  const { name, vehicles, seed, arrivals, durationMs, demands, bursts, burstsLost } = input;
  const run: RunOutcome = {
    schema: 'tachograph.run/1',
    startedAt: new Date(result.originWallMs).toISOString(),
    durationMs: result.durationMs,
    announcements: result.announcements,
    vehicles: result.agents,
    problems: result.problems,
    stages,
    burstsLost,
  };
  const store = await openStore(input.storeUrl, input.clock);
  try {
    const windowUs = campaign.definition.processing.windowMs * 1_000;
    const scope = { sessions: run.vehicles, windowUs };
    return {
      config: {
        schema: 'tachograph.config/1',
        kind: 'Run',
        name,
        vehicles,
        seed,
        load: { profile: 'emulated', arrivals, durationMs },
        demands,
        campaign,
      },
      run,
      environment: await readEnvironment(input.root, input.natsVersion),
      records: result.records,
      facts: await Array.fromAsync(readLedgerFacts(store, scope)),
      bursts,
    };
  } finally {
    await store.close();
  }
}

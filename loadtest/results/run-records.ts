import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TachographError } from '#kernel/core/errors.ts';
import { ledger } from '#loadtest/ledger/ledger.ts';
import { burstSummaries } from './burst-summary.ts';
import { readNdjson } from './ndjson.ts';
import {
  BURSTS_FILE,
  CONFIG_FILE,
  ENVIRONMENT_FILE,
  EVENTS_FILE,
  FACTS_FILE,
  RUN_FILE,
  writeJson,
  writeRecords,
} from './result-folder.ts';
import { summarize } from './summary.ts';
import type { CampaignDefinition } from '#kernel/facts/campaign.ts';
import type { Ledger } from '#loadtest/ledger/account.ts';
import type { LedgerFact } from '#loadtest/ledger/ledger-fact.ts';
import type { Arrivals } from '#loadtest/arrivals/arrival-times.ts';
import type { BatchRecord } from '#loadtest/vehicles/batch-record.ts';
import type { AgentResult } from '#loadtest/vehicles/vehicle-agent.ts';
import type { BurstRecord, StageDemandConfig } from './burst-record.ts';
import type { Environment } from './environment.ts';
import type { StageSummary, Summary } from './summary.ts';

interface ConfigHead {
  readonly schema: 'tachograph.config/1';
  readonly name: string;
  readonly vehicles: number;
  readonly seed: number;
  readonly campaign: {
    readonly campaign: string;
    readonly version: number;
    readonly definitionSha256: string;
    readonly definition: CampaignDefinition;
  };
}

/** A recorded drive, replayed. */
export interface DemoConfig extends ConfigHead {
  readonly kind: 'Demo';
  readonly speed: number;
  readonly drive: {
    readonly path: string;
    readonly sha256: string;
    readonly frames: number;
    /** Lines of the log that could not be read. */
    readonly faults: number;
    readonly durationMs: number;
  };
}

/** A load of emulated batches on a pipeline that runs. */
export interface LoadConfig extends ConfigHead {
  readonly kind: 'Run';
  readonly load: {
    readonly profile: 'emulated';
    readonly arrivals: Arrivals;
    readonly durationMs: number;
  };
  /** Of the stages that had one; they say so themselves. */
  readonly demands: Readonly<Record<string, StageDemandConfig>>;
}

/** `config.json`: everything that was asked for, with the defaults filled in. */
export type RunConfig = DemoConfig | LoadConfig;

/** `run.json`: what happened outside the batches. */
export interface RunOutcome {
  readonly schema: 'tachograph.run/1';
  /** Wall time of the records' origin, RFC 3339. */
  readonly startedAt: string;
  readonly durationMs: number;
  /** Announcements of exported data that reached the replay, repeats too. */
  readonly announcements: number;
  readonly vehicles: readonly AgentResult[];
  /** What went wrong outside the ledger, in words. */
  readonly problems: readonly string[];
  readonly stages: Readonly<Record<string, StageSummary>>;
  /** By stage with a demand: bursts whose rows were gone before they could be read. */
  readonly burstsLost?: Readonly<Record<string, number>>;
}

/** The raw files of a result folder: summary and report follow from them alone. */
export interface RunRecords {
  readonly config: RunConfig;
  readonly run: RunOutcome;
  readonly environment: Environment;
  readonly records: readonly BatchRecord[];
  readonly facts: readonly LedgerFact[];
  /** Bursts of the stages' demands; none in a run without demands. */
  readonly bursts: readonly BurstRecord[];
}

export async function writeRunRecords(folder: string, records: RunRecords): Promise<void> {
  await writeJson(folder, CONFIG_FILE, records.config);
  await writeJson(folder, RUN_FILE, records.run);
  await writeJson(folder, ENVIRONMENT_FILE, records.environment);
  await writeRecords(folder, EVENTS_FILE, records.records);
  await writeRecords(folder, FACTS_FILE, records.facts);
  if (records.bursts.length > 0) await writeRecords(folder, BURSTS_FILE, records.bursts);
}

/**
 * Throws RESULT_UNREADABLE for a folder without these files, or with files that cannot be parsed. Only
 * the bursts may be absent.
 */
export async function readRunRecords(folder: string): Promise<RunRecords> {
  try {
    return {
      config: await readJson<RunConfig>(folder, CONFIG_FILE),
      run: await readJson<RunOutcome>(folder, RUN_FILE),
      environment: await readJson<Environment>(folder, ENVIRONMENT_FILE),
      records: await Array.fromAsync(readNdjson<BatchRecord>(join(folder, EVENTS_FILE))),
      facts: await Array.fromAsync(readNdjson<LedgerFact>(join(folder, FACTS_FILE))),
      bursts: existsSync(join(folder, BURSTS_FILE))
        ? await Array.fromAsync(readNdjson<BurstRecord>(join(folder, BURSTS_FILE)))
        : [],
    };
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    throw new TachographError('RESULT_UNREADABLE', { folder, detail }, { cause: error });
  }
}

const readJson = async <T>(folder: string, file: string): Promise<T> =>
  JSON.parse(await readFile(join(folder, file), 'utf8')) as T;

/** The summary and the ledger of a run: a pure function of its records. */
export function deriveSummary(run: RunRecords): {
  readonly summary: Summary;
  readonly ledger: Ledger;
} {
  const account = ledger({ records: run.records, facts: run.facts });
  const failed = run.run.vehicles.filter(({ failure }) => failure !== null).length;
  const summary = summarize({
    kind: run.config.kind,
    name: run.config.name,
    ledger: account,
    records: run.records,
    problems: run.run.problems,
    vehicles: { count: run.run.vehicles.length, failed },
    stages: run.run.stages,
    bursts: burstSummaries(run.bursts, run.run.burstsLost ?? {}),
    environment: run.environment,
  });
  return { summary, ledger: account };
}

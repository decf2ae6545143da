import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TachographError } from '#kernel/core/errors.ts';
import { ledger } from '#loadtest/ledger/ledger.ts';
import { analyzeTraces } from '#loadtest/tracing/analyze-traces.ts';
import { readSpans, type ReadSpans } from '#loadtest/tracing/read-spans.ts';
import type { TraceAnalysis } from '#loadtest/tracing/trace-analysis.ts';
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
import { scalingSummaries, SCALING_FILES } from './scaling-summary.ts';
import { summarize } from './summary.ts';
import type { Enforcement } from '#infra/local/replicas/replica-groups.ts';
import type { CampaignDefinition } from '#kernel/facts/campaign.ts';
import type { Ledger } from '#loadtest/ledger/account.ts';
import type { LedgerFact } from '#loadtest/ledger/ledger-fact.ts';
import type { Arrivals } from '#loadtest/arrivals/arrival-times.ts';
import type { BatchRecord } from '#loadtest/vehicles/batch-record.ts';
import type { AgentResult } from '#loadtest/vehicles/vehicle-agent.ts';
import type { BurstRecord, StageDemandConfig } from './burst-record.ts';
import type { Environment } from './environment.ts';
import type { Experiment } from '#loadtest/experiments/experiment.ts';
import type { ScaledBy } from './policy-rows.ts';
import type { MeasuredSpan, ScalingRecords } from './scaling-summary.ts';
import type { ScalingSummary, StageSummary, Summary } from './summary.ts';

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
  /** What scaled the stages; absent where the run had no cluster of its own. */
  readonly policy?: string;
  /** By stage: the policy at work with all its settings and periods. */
  readonly scaledBy?: readonly ScaledBy[];
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
  /** The whole experiment, where there was one. */
  readonly experiment?: Experiment;
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
  /** What of the cluster's records counts; absent where it had none. */
  readonly measured?: MeasuredSpan;
  /** Which limits of replicas were enforced, and by what; of a cluster of its own. */
  readonly enforcement?: Enforcement;
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
  /** Absent: the run was not traced. */
  readonly spans?: ReadSpans;
  /** What the cluster wrote down of its replicas; absent where the run had none of its own. */
  readonly scaling?: ScalingRecords;
}

/** All but what the cluster has written itself. */
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
      ...(await readScaling(folder)),
      ...(await readTraces(folder)),
    };
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    throw new TachographError('RESULT_UNREADABLE', { folder, detail }, { cause: error });
  }
}

/** The cluster's own files, where there are any. */
export async function readScaling(folder: string): Promise<{ scaling?: ScalingRecords }> {
  if (!existsSync(join(folder, SCALING_FILES.replicas))) return {};
  const read = <Row>(file: string): Promise<Row[]> =>
    Array.fromAsync(readNdjson<Row>(join(folder, file)));
  return {
    scaling: {
      replicas: await read(SCALING_FILES.replicas),
      coldStarts: await read(SCALING_FILES.coldStarts),
      samples: await read(SCALING_FILES.samples),
    },
  };
}

/** The spans of a result folder, where it was traced. */
export async function readTraces(folder: string): Promise<{ spans?: ReadSpans }> {
  const spans = await readSpans(folder);
  return spans === undefined ? {} : { spans };
}

const readJson = async <T>(folder: string, file: string): Promise<T> =>
  JSON.parse(await readFile(join(folder, file), 'utf8')) as T;

export interface DerivedResult {
  readonly summary: Summary;
  readonly ledger: Ledger;
  /** undefined: the run was not traced. */
  readonly traces: TraceAnalysis | undefined;
}

/** The summary, the ledger and the traces of a run: a pure function of its records. */
export function deriveSummary(run: RunRecords): DerivedResult {
  const account = ledger({ records: run.records, facts: run.facts });
  const failed = run.run.vehicles.filter(({ failure }) => failure !== null).length;
  const traces = analysisOf(run);
  const summary = summarize({
    kind: run.config.kind,
    name: run.config.name,
    ledger: account,
    records: run.records,
    problems: run.run.problems,
    vehicles: { count: run.run.vehicles.length, failed },
    stages: run.run.stages,
    bursts: burstSummaries(run.bursts, run.run.burstsLost ?? {}),
    scaling: scalingOf(run),
    traces,
    environment: run.environment,
  });
  return { summary, ledger: account, traces };
}

function analysisOf({ spans, records, config }: RunRecords): TraceAnalysis | undefined {
  if (spans === undefined) return undefined;
  const { windowMs } = config.campaign.definition.processing;
  return analyzeTraces({ ...spans, records, windowMs });
}

function scalingOf({ config, run, scaling }: RunRecords): ScalingSummary | undefined {
  const { policy } = config;
  const { measured, stages } = run;
  if (policy === undefined || measured === undefined || scaling === undefined) return undefined;
  return {
    policy,
    measuredMs: Math.round(measured.untilMs - measured.fromMs),
    stages: scalingSummaries(scaling, measured, Object.keys(stages)),
  };
}

import type { Account } from '#loadtest/ledger/account.ts';
import type { BatchRecord } from '#loadtest/vehicles/batch-record.ts';
import type { Ledger } from '#loadtest/ledger/account.ts';
import { quantilesOf } from './quantiles.ts';
import type { BurstSummary } from './burst-summary.ts';
import type { Quantiles } from './quantiles.ts';
import type { Environment } from './environment.ts';

export const SUMMARY_SCHEMA = 'tachograph.summary/1';

/** What a stage did, as far as the broker and the operating system can tell; null = not known. */
export interface StageSummary {
  /** Events it took (answered 2xx); null for a stage that no Trigger leads to. */
  readonly delivered: number | null;
  /** Deliveries that failed and were repeated. */
  readonly retried: number | null;
  /** Events given up after all retries. */
  readonly deadLettered: number | null;
  /** Events the broker handed out again although nobody had asked for it. */
  readonly redelivered: number | null;
  /** CPU time of its processes, user and system. */
  readonly cpuMs: number | null;
  /** What its demands consumed; absent for a stage without one. */
  readonly bursts?: BurstSummary;
}

/** The load generator's own account. */
export interface VehiclesSummary {
  readonly vehicles: number;
  readonly failed: number;
  readonly attempts: number;
  /** How late batches were ready, against their intended times: the generator's doing. */
  readonly lateMs: Quantiles;
}

/** `summary.json`. Fields are documented in docs/results.md; later versions only add. */
export interface Summary {
  readonly schema: typeof SUMMARY_SCHEMA;
  readonly kind: 'Demo' | 'Run';
  readonly name: string;
  /** Nothing in `problems`. */
  readonly valid: boolean;
  readonly problems: readonly string[];
  readonly ledger: Account;
  readonly latencyMs: Quantiles & { readonly from: 'intended' };
  readonly stages: Readonly<Record<string, StageSummary | VehiclesSummary>>;
  readonly environment: Environment;
}

export interface SummaryInput {
  readonly kind: Summary['kind'];
  readonly name: string;
  readonly ledger: Ledger;
  readonly records: readonly BatchRecord[];
  /** What went wrong outside the ledger. */
  readonly problems: readonly string[];
  readonly vehicles: { readonly count: number; readonly failed: number };
  readonly stages: Readonly<Record<string, StageSummary>>;
  readonly bursts: Readonly<Record<string, BurstSummary>>;
  readonly environment: Environment;
}

export function summarize(input: SummaryInput): Summary {
  const { records, ledger } = input;
  const problems = [...ledger.problems, ...input.problems];
  const latencies = records.flatMap(({ exportedMs, intendedMs }) =>
    exportedMs === null ? [] : [exportedMs - intendedMs],
  );
  const vehicles: VehiclesSummary = {
    vehicles: input.vehicles.count,
    failed: input.vehicles.failed,
    attempts: records.reduce((sum, { attempts }) => sum + attempts, 0),
    lateMs: quantilesOf(records.map(({ readyMs, intendedMs }) => readyMs - intendedMs)),
  };
  return {
    schema: SUMMARY_SCHEMA,
    kind: input.kind,
    name: input.name,
    valid: problems.length === 0,
    problems,
    ledger: ledger.account,
    latencyMs: { ...quantilesOf(latencies), from: 'intended' },
    stages: { vehicles, ...withBursts(input) },
    environment: input.environment,
  };
}

const withBursts = ({ stages, bursts }: SummaryInput): Readonly<Record<string, StageSummary>> =>
  Object.fromEntries(
    Object.entries(stages).map(([name, stage]) => {
      const own = bursts[name];
      return [name, own === undefined ? stage : { ...stage, bursts: own }];
    }),
  );

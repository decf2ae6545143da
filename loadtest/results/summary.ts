import type { Account } from '#loadtest/ledger/account.ts';
import type { BatchRecord } from '#loadtest/vehicles/batch-record.ts';
import type { Ledger } from '#loadtest/ledger/account.ts';
import { quantilesOf } from './quantiles.ts';
import type { BurstSummary } from './burst-summary.ts';
import type { Quantiles } from './quantiles.ts';
import type { Environment } from './environment.ts';
import type {
  PhaseQuantiles,
  TraceAnalysis,
  TracesSummary,
} from '#loadtest/tracing/trace-analysis.ts';
import type { StageScaling } from './scaling-summary.ts';

export const SUMMARY_SCHEMA = 'tachograph.summary/1';

/** What a stage did, as far as the broker and the operating system can tell; null = not known. */
export interface StageCounts {
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
}

/** How it was scaled is told where the run had a cluster of its own. */
export interface StageSummary extends StageCounts, Partial<StageScaling> {
  /** What its demands consumed; absent for a stage without one. */
  readonly bursts?: BurstSummary;
  /** Where the time of its complete traces went; absent: the run was not traced. */
  readonly phasesMs?: PhaseQuantiles;
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
  /** What scaled the stages; absent where the run had no cluster of its own. */
  readonly policy?: string;
  /** Nothing in `problems`. */
  readonly valid: boolean;
  readonly problems: readonly string[];
  readonly ledger: Account;
  readonly latencyMs: Quantiles & { readonly from: 'intended' };
  /** How long scaling was watched, from the beginning of the load. */
  readonly measuredMs?: number;
  /** null: the run was not traced. Absent in summaries before tracing. */
  readonly traces?: TracesSummary | null;
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
  readonly scaling?: ScalingSummary | undefined;
  readonly traces?: TraceAnalysis | undefined;
  readonly environment: Environment;
}

export interface ScalingSummary {
  readonly policy: string;
  readonly measuredMs: number;
  readonly stages: Readonly<Record<string, StageScaling>>;
}

export function summarize(input: SummaryInput): Summary {
  const { records, ledger, scaling } = input;
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
    ...(scaling === undefined ? {} : { policy: scaling.policy }),
    valid: problems.length === 0,
    problems,
    ledger: ledger.account,
    latencyMs: { ...quantilesOf(latencies), from: 'intended' },
    ...(scaling === undefined ? {} : { measuredMs: scaling.measuredMs }),
    traces: input.traces?.summary ?? null,
    stages: { vehicles, ...withBursts(input) },
    environment: input.environment,
  };
}

const withBursts = ({
  stages,
  bursts,
  scaling,
  traces,
}: SummaryInput): Readonly<Record<string, StageSummary>> =>
  Object.fromEntries(
    Object.entries(stages).map(([name, stage]) => {
      const own = bursts[name];
      const scaled = scaling?.stages[name];
      const phasesMs = traces?.phasesMs[name];
      return [
        name,
        {
          ...stage,
          // By the records: a process that has ended tells nobody what it consumed.
          ...(scaled === undefined
            ? {}
            : { cpuMs: Math.round(scaled.cpuSeconds * 1_000), ...scaled }),
          ...(own === undefined ? {} : { bursts: own }),
          ...(phasesMs === undefined ? {} : { phasesMs }),
        },
      ];
    }),
  );

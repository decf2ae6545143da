import type { Environment } from '#loadtest/results/environment.ts';
import type { SUMMARY_SCHEMA } from '#loadtest/results/summary.ts';
import type { EffectSize } from '#loadtest/statistics/cliffs-delta.ts';
import type { Enforcement } from './node-groups.ts';
import type { QosClass } from './study.ts';

/** An estimate with its bounds; null: the data has none. */
export interface Estimate {
  readonly value: number | null;
  readonly low: number | null;
  readonly high: number | null;
}

/** Bursts of one class and demand over all nodes. Wall time, in ms, unless the name says otherwise. */
export interface TableRow {
  readonly qos: QosClass;
  readonly demandMs: number;
  readonly n: number;
  readonly executions: number;
  readonly meanMs: Estimate;
  readonly medianMs: Estimate;
  readonly p95Ms: Estimate;
  readonly sdMs: Estimate;
  readonly cvPct: Estimate;
  readonly biasPct: Estimate;
  /** Burst against burst of the same execution. */
  readonly withinCvPct: number | null;
  /** Means of executions against each other; holds its share of what is within. */
  readonly betweenCvPct: number | null;
  readonly madPct: number | null;
  readonly p95OverMedian: number | null;
  /** CPU time against nominal, and its spread: what is not waiting. */
  readonly cpuBiasPct: number | null;
  readonly cpuCvPct: number | null;
  /** Waiting on the run queue over wall time. */
  readonly readyShare: number | null;
}

export const LEVELS = ['node', 'execution', 'iteration', 'burst'] as const;
export type Level = (typeof LEVELS)[number];

/** Of the relative error (measured over nominal − 1). */
export interface Component {
  /** Unbiased, so it may be below 0; null: the design cannot tell it from the level above. */
  readonly variance: number | null;
  /** Its root, 0 for a negative one, in % of nominal. */
  readonly sdPct: number | null;
  /** Of the sum of all components, negative ones counted as 0. */
  readonly share: number | null;
}

export type LevelComponents = Readonly<Record<Level, Component>>;

export interface Components extends LevelComponents {
  /** Why a level of the mean over cells is null. */
  readonly reason: string | null;
  readonly cells: readonly (LevelComponents & {
    readonly qos: QosClass;
    readonly demandMs: number;
  })[];
}

export interface Relation {
  readonly spearman: Estimate;
  readonly pValue: number | null;
  /** All orders were tried. */
  readonly exact: boolean;
  /** The smallest p this number of nodes could give. */
  readonly smallestP: number | null;
  readonly pearson: number | null;
  readonly pearsonP: number | null;
  readonly nodes: number;
  /** Why there is no correlation. */
  readonly reason: string | null;
}

export interface NodeOccupancy {
  readonly node: string;
  readonly pods: number | null;
  readonly millicores: number | null;
  readonly machineMillicores: number | null;
  /** Mean over the node's cells (class × demand) of the cell's CV. */
  readonly cvPct: number | null;
}

export interface OccupancyResult {
  readonly pods: Relation;
  readonly millicores: Relation;
  readonly nodes: readonly NodeOccupancy[];
  readonly cells: readonly {
    readonly qos: QosClass;
    readonly demandMs: number;
    readonly pods: Relation;
    readonly millicores: Relation;
  }[];
}

export type QosVerdict = 'equivalent' | 'different' | 'undecided';

export interface QosRow {
  readonly demandMs: number;
  readonly pairs: number;
  /** Guaranteed less best-effort, in % of nominal: Hodges-Lehmann. */
  readonly shiftPct: Estimate;
  /** What the interval holds; steps are coarse with few pairs. */
  readonly level: number;
  readonly cliffsDelta: number | null;
  readonly effect: EffectSize | null;
  readonly verdict: QosVerdict;
}

export interface QosResult {
  readonly marginPct: number;
  readonly demands: readonly QosRow[];
  /** Why there is no comparison. */
  readonly reason: string | null;
}

/** What the design could have shown, with a chance of 80 % at the 5 % level. */
export interface Detectable {
  readonly power: number;
  readonly alpha: number;
  readonly correlation: {
    readonly nodes: number;
    /** |r| from here on is significant. */
    readonly critical: number | null;
    /** The smallest p of the exact test with so many different nodes. */
    readonly smallestP: number | null;
    readonly detectable: number | null;
    readonly powerAtHalf: number | null;
    readonly nodesForHalf: number | null;
  };
  readonly qosShift: readonly {
    readonly demandMs: number;
    readonly pairs: number;
    readonly detectablePct: number | null;
  }[];
  readonly nodeSd: readonly {
    readonly qos: QosClass;
    readonly demandMs: number;
    readonly detectablePct: number | null;
  }[];
  /** A node's SD over its executions is uncertain by these factors (95 %). */
  readonly sdFactors: { readonly low: number | null; readonly high: number | null };
}

/** Of the executions' own calibrations. */
export interface CalibrationSpread {
  readonly executions: number;
  readonly rateMedian: number | null;
  /** Of the rate, execution against execution. */
  readonly rateCvPct: number | null;
  /** Median over executions of p90 over p10 within. */
  readonly spreadMedian: number | null;
}

export interface Variability {
  readonly enforcement: Enforcement;
  readonly executions: { readonly planned: number; readonly complete: number };
  readonly table: readonly TableRow[];
  readonly components: Components;
  readonly occupancy: OccupancyResult;
  readonly qos: QosResult;
  readonly detectable: Detectable;
  readonly calibration: CalibrationSpread;
}

/** `summary.json` of a variability study: no pipeline, so no ledger. */
export interface VariabilitySummary {
  readonly schema: typeof SUMMARY_SCHEMA;
  readonly kind: 'Variability';
  readonly name: string;
  readonly valid: boolean;
  readonly problems: readonly string[];
  readonly variability: Variability;
  readonly environment: Environment;
}

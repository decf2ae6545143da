import type { Phase } from '#kernel/core/phases.ts';
import type { Quantiles } from '#loadtest/results/quantiles.ts';
import type { SpanRecord } from './span-record.ts';

/** One stretch of a batch's way, in order; ms since its intended send time. */
export interface PathStep {
  /** The stage it leads to or is in; `sink` for the subscriber that sees the export. */
  readonly stage: string;
  readonly phase: Phase;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** `parked` and `duplicate` are stated reasons; `incomplete` is a fault, or the loss of spans. */
export type TraceState = 'complete' | 'parked' | 'duplicate' | 'incomplete';

/** What the spans say of one batch. */
export interface BatchTrace {
  readonly vehicle: string;
  readonly session: string;
  readonly seq: number;
  readonly traceId: string;
  readonly state: TraceState;
  /** Why it is not complete; '' for a complete one. */
  readonly reason: string;
  /** Intended send time → the export's announcement has arrived; null unless complete. */
  readonly totalMs: number | null;
  /** Empty unless complete. Steps do not overlap: where measured phases do, the later one has the time. */
  readonly path: readonly PathStep[];
  /** Of the total, what no phase covers. */
  readonly residualMs: number;
  /** How much more the phases add up to than they cover: time that two of them claim. */
  readonly overlapMs: number;
  /** Negative gaps between clocks of two processes on the way, in words; empty as a rule. */
  readonly clockFaults: readonly string[];
  /** It waited for a replica to start, in whichever stage. */
  readonly cold: boolean;
  /** A span of its trace failed, asked for a retry, or was a repeated attempt. */
  readonly failed: boolean;
  /** Its window was closed by another batch's event, or by a tick. */
  readonly waitedForWindow: boolean;
}

/** By how much another process's clock is ahead of the local cluster's, as enclosing spans bound it. */
export interface ClockOffset {
  readonly instance: string;
  readonly service: string;
  /** The middle of the bounds, and half their distance. */
  readonly offsetMs: number;
  readonly boundMs: number;
  /** Pairs of spans it rests on. */
  readonly pairs: number;
  /** Bounds that contradict each other: a clock was set, or runs at another speed. */
  readonly consistent: boolean;
}

/** Of all complete traces: which share of the slowest ones' time is cold start. */
export interface ColdStartShare {
  /** `p50`, `p95` or `p99`: of traces at and above that quantile of the total. */
  readonly quantile: 'p50' | 'p95' | 'p99';
  readonly traces: number;
  /** Mean ms a trace, and its share of their mean total. */
  readonly coldStartMs: number;
  readonly share: number;
  readonly byStage: Readonly<Record<string, { readonly ms: number; readonly share: number }>>;
  /** By part of a start (COLD_START_PARTS), mean ms a trace. */
  readonly byPartMs: Readonly<Record<string, number>>;
}

/** `summary.json`'s member `traces`. */
export interface TracesSummary {
  /** Batches stored whose trace was sampled. */
  readonly expected: number;
  readonly complete: number;
  readonly parked: number;
  readonly duplicates: number;
  /** Neither complete nor with a stated reason. */
  readonly incomplete: number;
  /** Spans whose parent is in no file. */
  readonly orphanSpans: number;
  /** By the processes' own counts, those that ended among them, and what the file had no room for. */
  readonly droppedSpans: number;
  readonly spans: number;
  /** p99 are null below 100 complete traces; the maxima are always there where there is one. */
  readonly residualMsP99: number | null;
  readonly residualPctP99: number | null;
  readonly residualMsMax: number | null;
  readonly residualPctMax: number | null;
  readonly overlapMsP99: number | null;
  readonly overlapMsMax: number | null;
  /** Traces with a negative gap between clocks. */
  readonly clockFaults: number;
  readonly clocks: readonly ClockOffset[];
}

export type PhaseQuantiles = Readonly<Record<Phase, Quantiles>>;

/** Why a trace's waterfall is kept for the report. */
export type KeptFor = 'slowest' | 'cold' | 'failed' | 'median';

export interface KeptTrace {
  readonly trace: BatchTrace;
  readonly keptFor: readonly KeptFor[];
  /** Of its trace, and of its window's where that is another; by start. At most MAX_KEPT_SPANS. */
  readonly spans: readonly SpanRecord[];
}

export interface TraceAnalysis {
  readonly summary: TracesSummary;
  /** By vehicle, session and number. */
  readonly traces: readonly BatchTrace[];
  /** Of the critical paths: by stage, for every phase of the list (0 where a trace has none of it). */
  readonly phasesMs: Readonly<Record<string, PhaseQuantiles>>;
  readonly coldStart: readonly ColdStartShare[];
  readonly kept: readonly KeptTrace[];
}

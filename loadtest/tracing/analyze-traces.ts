import { PHASES, type Phase } from '#kernel/core/phases.ts';
import { ATTRIBUTE } from '#kernel/telemetry/names.ts';
import { quantilesOf } from '#loadtest/results/quantiles.ts';
import type { BatchRecord } from '#loadtest/vehicles/batch-record.ts';
import { chooseKept } from './choose-kept.ts';
import { clockFaultsOf, clockOffsets } from './clock-offsets.ts';
import { coldStartShares, type TracedWay } from './cold-start-share.ts';
import { findWay, type BatchWay } from './find-way.ts';
import { pathOf } from './path-steps.ts';
import type { ReadSpans } from './read-spans.ts';
import { keyOf, SpanIndex } from './span-index.ts';
import type { SpanRecord } from './span-record.ts';
import type { BatchTrace, PhaseQuantiles, TraceAnalysis, TracesSummary } from './trace-analysis.ts';

export interface TraceInput extends ReadSpans {
  readonly records: readonly BatchRecord[];
  /** Of the campaign: which window a batch belongs to. */
  readonly windowMs: number;
}

/**
 * What the spans of a run say: for every stored batch whose trace was sampled, whether the trace is
 * complete, where its time went, and what nothing covers. A pure function of the raw files.
 */
export function analyzeTraces(input: TraceInput): TraceAnalysis {
  const { spans, records, windowMs } = input;
  const index = new SpanIndex(spans);
  const ways: TracedWay[] = [];
  const traces = records
    .filter(({ outcome, traceId }) => outcome === 'stored' && typeof traceId === 'string')
    .map((record) => {
      const { trace, way } = traceOf(index, record, windowMs);
      if (way !== undefined) ways.push({ trace, spans: [...way.own, ...way.ofWindow] });
      return trace;
    })
    .sort(inOrder);
  return {
    summary: summaryOf(input, index, traces),
    traces,
    phasesMs: phasesOf(ways.map(({ trace }) => trace)),
    coldStart: coldStartShares(ways),
    kept: chooseKept(traces, ({ traceId }) => relatedSpans(index, traceId)),
  };
}

const inOrder = (a: BatchTrace, b: BatchTrace): number =>
  compare(a.vehicle, b.vehicle) || compare(a.session, b.session) || a.seq - b.seq;

const compare = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);

/** Its own spans, and those of the trace in which its window went on. */
export function relatedSpans(index: SpanIndex, traceId: string): readonly SpanRecord[] {
  const others = new Set(index.linkingTo(traceId).map((span) => span.traceId));
  others.delete(traceId);
  return [traceId, ...others].flatMap((id) => index.trace(id));
}

/** The last window that a batch lies in: with it all of the batch is out. */
function windowOf({ emulated, seq, untilUs, fromUs }: BatchRecord, windowMs: number): number {
  if (emulated === true) return seq;
  return Math.floor(Math.max(fromUs, untilUs - 1) / (windowMs * 1_000));
}

function traceOf(
  index: SpanIndex,
  record: BatchRecord,
  windowMs: number,
): { readonly trace: BatchTrace; readonly way: BatchWay | undefined } {
  const { vehicle, session, seq } = record;
  const traceId = String(record.traceId);
  const found = findWay(index, traceId, keyOf(vehicle, session, windowOf(record, windowMs)));
  const head = { vehicle, session, seq, traceId };
  if (found.way === undefined) {
    const stated = reasonOf(index, traceId, record);
    const state = stated?.state ?? 'incomplete';
    const reason = stated?.reason ?? `there is no span of ${found.missing}`;
    return { trace: { ...head, ...NO_PATH, state, reason, failed: true }, way: undefined };
  }
  const { way } = found;
  const path = pathOf(way);
  const onWay = [...way.own, ...way.ofWindow];
  const trace: BatchTrace = {
    ...head,
    state: 'complete',
    reason: '',
    totalMs: path.totalMs,
    path: path.steps,
    residualMs: path.residualMs,
    overlapMs: path.overlapMs,
    clockFaults: [...clockFaultsOf(way.own), ...clockFaultsOf(way.ofWindow)],
    cold: path.steps.some(({ phase }) => phase === 'coldStart'),
    failed: index.trace(traceId).some(isFailure) || onWay.some(isFailure),
    waitedForWindow: way.waitedForWindow,
  };
  return { trace, way };
}

const NO_PATH = {
  totalMs: null,
  path: [],
  residualMs: 0,
  overlapMs: 0,
  clockFaults: [],
  cold: false,
  waitedForWindow: false,
} as const;

/** It failed, was to be tried again, or is a repeated attempt. */
const isFailure = (span: SpanRecord): boolean =>
  span.error ||
  Number(span.attributes[ATTRIBUTE.attempt] ?? 1) > 1 ||
  Number(span.attributes[ATTRIBUTE.httpResendCount] ?? 0) > 0 ||
  span.attributes[ATTRIBUTE.outcome] === 'retry';

/** Why a trace that does not reach the sink need not; undefined: it should. */
function reasonOf(
  index: SpanIndex,
  traceId: string,
  record: BatchRecord,
): Pick<BatchTrace, 'state' | 'reason'> | undefined {
  const parked = relatedSpans(index, traceId).find(
    ({ attributes }) => attributes[ATTRIBUTE.outcome] === 'parked',
  );
  if (parked !== undefined) {
    const why = String(parked.attributes[ATTRIBUTE.outcomeReason] ?? 'no reason');
    return { state: 'parked', reason: `an event was parked: ${why}` };
  }
  if (!record.duplicate) return undefined;
  return {
    state: 'duplicate',
    reason: 'an earlier upload of it, whose answer was lost, was stored',
  };
}

function summaryOf(
  { tracing, spans }: TraceInput,
  index: SpanIndex,
  traces: readonly BatchTrace[],
): TracesSummary {
  const complete = traces.filter(({ state }) => state === 'complete');
  const count = (state: BatchTrace['state']): number =>
    traces.filter((trace) => trace.state === state).length;
  const residualMs = quantilesOf(complete.map((trace) => trace.residualMs));
  const residualPct = quantilesOf(complete.map(residualPctOf));
  const overlapMs = quantilesOf(complete.map((trace) => trace.overlapMs));
  const dropped = Object.values(tracing?.droppedByProcess ?? {}).reduce((sum, n) => sum + n, 0);
  return {
    expected: traces.length,
    complete: complete.length,
    parked: count('parked'),
    duplicates: count('duplicate'),
    incomplete: count('incomplete'),
    orphanSpans: index.orphans().length,
    droppedSpans: dropped + (tracing?.droppedByLimit ?? 0),
    spans: spans.length,
    residualMsP99: residualMs.p99,
    residualPctP99: residualPct.p99,
    residualMsMax: residualMs.max,
    residualPctMax: residualPct.max,
    overlapMsP99: overlapMs.p99,
    overlapMsMax: overlapMs.max,
    clockFaults: traces.filter(({ clockFaults }) => clockFaults.length > 0).length,
    clocks: clockOffsets(index),
  };
}

const residualPctOf = ({ residualMs, totalMs }: BatchTrace): number =>
  totalMs === null || totalMs === 0 ? 0 : (100 * residualMs) / totalMs;

/** By stage: quantiles over the traces of the sum that each phase has on the way, 0 where it has none. */
function phasesOf(traces: readonly BatchTrace[]): TraceAnalysis['phasesMs'] {
  const stages = [...new Set(traces.flatMap(({ path }) => path.map(({ stage }) => stage)))];
  const sums = new Map(
    stages.map((stage) => [stage, new Map(PHASES.map((phase) => [phase, [] as number[]]))]),
  );
  for (const { path } of traces) {
    for (const [stage, byPhase] of sums) {
      for (const [phase, values] of byPhase) values.push(sumOf(path, stage, phase));
    }
  }
  return Object.fromEntries(
    [...sums].map(([stage, byPhase]) => [
      stage,
      Object.fromEntries(
        [...byPhase].map(([phase, values]) => [phase, quantilesOf(values)]),
      ) as PhaseQuantiles,
    ]),
  );
}

function sumOf(path: BatchTrace['path'], stage: string, phase: Phase): number {
  let ms = 0;
  for (const step of path) {
    if (step.stage === stage && step.phase === phase) ms += step.untilMs - step.fromMs;
  }
  return ms;
}

/** What is wrong with the traces of a run, for whoever reads its end; empty: nothing. */
export function traceWarnings({ summary }: TraceAnalysis, faults: readonly string[]): string[] {
  const { expected, incomplete, orphanSpans, droppedSpans, clockFaults } = summary;
  return [
    ...faults,
    ...(incomplete > 0 ? [`${incomplete} of ${expected} traces are not complete`] : []),
    ...(orphanSpans > 0 ? [`${orphanSpans} spans have a parent that is in no file`] : []),
    ...(droppedSpans > 0 ? [`${droppedSpans} spans were dropped`] : []),
    ...(clockFaults > 0 ? [`${clockFaults} traces have an effect before its cause`] : []),
  ];
}

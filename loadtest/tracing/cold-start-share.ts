import { COLD_START_PARTS, parseMarks } from '#kernel/core/phases.ts';
import { ATTRIBUTE } from '#kernel/telemetry/names.ts';
import type { SpanRecord } from './span-record.ts';
import type { BatchTrace, ColdStartShare } from './trace-analysis.ts';

/** A complete trace, with the spans of its way. */
export interface TracedWay {
  readonly trace: BatchTrace;
  readonly spans: readonly SpanRecord[];
}

/** Of so many traces at least, else the slowest few would be one. */
const QUANTILES = [
  { quantile: 'p50', p: 0.5, min: 1 },
  { quantile: 'p95', p: 0.95, min: 20 },
  { quantile: 'p99', p: 0.99, min: 100 },
] as const;

/**
 * Which share of the slow traces' time is cold start: of the traces whose total is the quantile or more,
 * mean ms a trace and its share of their mean total. Of totals 100, 100, 100, 500 ms, the last with 300 ms
 * of cold start, p99 would say 0.6.
 */
export function coldStartShares(ways: readonly TracedWay[]): readonly ColdStartShare[] {
  const slowFirst = [...ways].sort((a, b) => totalOf(b.trace) - totalOf(a.trace));
  return QUANTILES.flatMap(({ quantile, p, min }) => {
    if (ways.length < min) return [];
    // By nearest rank: of 100 the p99 is the 99th, so two are at or above it.
    const rank = Math.ceil(Math.round(p * ways.length * 1e6) / 1e6);
    return [shareOf(quantile, slowFirst.slice(0, ways.length - Math.max(rank, 1) + 1))];
  });
}

const totalOf = ({ totalMs }: BatchTrace): number => totalMs ?? 0;

function shareOf(quantile: ColdStartShare['quantile'], slow: readonly TracedWay[]): ColdStartShare {
  const n = slow.length;
  const meanTotalMs = slow.reduce((sum, { trace }) => sum + totalOf(trace), 0) / n;
  const byStageMs = new Map<string, number>();
  const byPartMs: Record<string, number> = Object.fromEntries(
    COLD_START_PARTS.map((part) => [part, 0]),
  );
  for (const { trace, spans } of slow) {
    for (const { stage, phase, fromMs, untilMs } of trace.path) {
      if (phase !== 'coldStart') continue;
      byStageMs.set(stage, (byStageMs.get(stage) ?? 0) + (untilMs - fromMs) / n);
    }
    for (const span of spans) {
      const parts = parseMarks(
        String(span.attributes[ATTRIBUTE.coldStartParts] ?? ''),
        COLD_START_PARTS,
      );
      for (const { phase, lengthUs } of parts ?? []) {
        byPartMs[phase] = (byPartMs[phase] ?? 0) + lengthUs / 1_000 / n;
      }
    }
  }
  const share = (ms: number): number => (meanTotalMs === 0 ? 0 : ms / meanTotalMs);
  const coldStartMs = [...byStageMs.values()].reduce((sum, ms) => sum + ms, 0);
  return {
    quantile,
    traces: n,
    coldStartMs,
    share: share(coldStartMs),
    byStage: Object.fromEntries(
      [...byStageMs].map(([stage, ms]) => [stage, { ms, share: share(ms) }]),
    ),
    byPartMs,
  };
}

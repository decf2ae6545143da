import type { SpanRecord } from './span-record.ts';
import type { BatchTrace, KeptFor, KeptTrace } from './trace-analysis.ts';

/** Of each kind. */
export const MAX_KEPT_EACH = 10;
/** Around the median. */
const MEDIAN_KEPT = 3;
/** Of one trace; a session that closes hundreds of windows at once has more. */
export const MAX_KEPT_SPANS = 250;

/**
 * The traces whose waterfall is worth a place in the report: of each kind the slowest ones, since a cold
 * or failed one that nobody waited for is the less interesting one.
 */
export function chooseKept(
  traces: readonly BatchTrace[],
  spansOf: (trace: BatchTrace) => readonly SpanRecord[],
): readonly KeptTrace[] {
  const complete = traces
    .filter(({ totalMs }) => totalMs !== null)
    .sort((a, b) => (b.totalMs ?? 0) - (a.totalMs ?? 0));
  const middle = Math.max(0, Math.floor((complete.length - MEDIAN_KEPT) / 2));
  // One that did not come out is a failure, whatever its spans say.
  const lost = traces.filter(({ state }) => state !== 'complete');
  const chosen: readonly (readonly [KeptFor, readonly BatchTrace[]])[] = [
    ['slowest', complete.slice(0, MAX_KEPT_EACH)],
    ['cold', complete.filter(({ cold }) => cold).slice(0, MAX_KEPT_EACH)],
    ['failed', [...lost, ...complete.filter(({ failed }) => failed)].slice(0, MAX_KEPT_EACH)],
    ['median', complete.slice(middle, middle + MEDIAN_KEPT)],
  ];
  const kept = new Map<BatchTrace, KeptFor[]>();
  for (const [why, ofKind] of chosen) {
    for (const trace of ofKind) kept.set(trace, [...(kept.get(trace) ?? []), why]);
  }
  return [...kept].map(([trace, keptFor]) => ({
    trace,
    keptFor,
    spans: [...spansOf(trace)].sort((a, b) => a.startMs - b.startMs).slice(0, MAX_KEPT_SPANS),
  }));
}

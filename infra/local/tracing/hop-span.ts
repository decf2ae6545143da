import type { HopNotes } from '#eventing/dispatch/hop-notes.ts';
import { formatMarks } from '#kernel/core/phases.ts';
import { ATTRIBUTE } from '#kernel/telemetry/names.ts';
import type { ProcessSpan } from '#kernel/telemetry/process-tracing.ts';
import { startParts, waitStretches, type ReplicaStart } from './replica-start.ts';

/** Starts of the replicas there are; the newest of each. */
export interface ReplicaStarts {
  of(replica: string): ReplicaStart | undefined;
}

export interface HopSpanContext {
  readonly starts: ReplicaStarts;
  readonly toEpochMs: (monotonicMs: number) => number;
}

/** Writes on the span of a hop what it waited for, and who served it. */
export function noteHop(
  span: ProcessSpan,
  startMs: number,
  hop: HopNotes,
  { starts, toEpochMs }: HopSpanContext,
): void {
  const { replica, waits, cold } = hop;
  const start = replica === undefined ? undefined : starts.of(replica);
  const stretches = waitStretches(waits, start);
  for (const { phase, fromMs, untilMs } of stretches) {
    span.mark(phase, toEpochMs(fromMs), toEpochMs(untilMs));
  }
  span.set(ATTRIBUTE.coldStart, cold);
  if (replica !== undefined) span.set(ATTRIBUTE.faasInstance, replica);
  const coldStretches = stretches.filter(({ phase }) => phase === 'coldStart');
  if (start === undefined || coldStretches.length === 0) return;
  // The span's own zero on the monotonic clock: epoch times differ from it by one and the same number.
  const zeroMs = startMs - toEpochMs(0);
  span.set(ATTRIBUTE.coldStartParts, formatMarks(startParts(start, coldStretches, zeroMs)));
}

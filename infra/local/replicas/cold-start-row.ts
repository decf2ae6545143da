import type { ColdStartRow } from '#infra/local/cluster-records.ts';
import type { Clock } from '#kernel/core/clock.ts';
import type { StartMarks } from './replica.ts';

/** What the pool knows of a start beside the process itself; in ms since the cluster's start. */
export interface ColdStartCause {
  readonly service: string;
  readonly replica: string;
  readonly fromZero: boolean;
  readonly requestedMs: number | null;
  readonly decidedMs: number;
  readonly startDelayMs: number;
}

/** Turns monotonic and epoch times into ms since the cluster's start. */
export interface TimeLine {
  fromMonotonic(ms: number): number;
  fromEpoch(ms: number): number;
}

/** As both clocks stand now: a wall clock that was set before, since the start, moves nothing. */
export function timeLine(clock: Clock, originMs: number): TimeLine {
  const wallOriginMs = clock.nowMs() - clock.monotonicMs() + originMs;
  return {
    fromMonotonic: (ms) => ms - originMs,
    fromEpoch: (ms) => ms - wallOriginMs,
  };
}

/**
 * The phases of one start. The process measures with its own clock, which may differ from ours by a ms;
 * its moments are held between spawn and readiness, in order, so that no phase is negative.
 */
export function coldStartRow(
  cause: ColdStartCause,
  marks: StartMarks,
  firstResponseMs: number | null,
  line: TimeLine,
): ColdStartRow {
  const { service, replica, fromZero, requestedMs, decidedMs, startDelayMs } = cause;
  const spawnedMs = line.fromMonotonic(marks.spawnedMs);
  const readyMs = line.fromMonotonic(marks.readyMs);
  let before = spawnedMs;
  const inOrder = (epochMs: number): number => {
    before = Math.min(Math.max(line.fromEpoch(epochMs), before), readyMs);
    return before;
  };
  const { timings } = marks;
  return {
    service,
    replica,
    fromZero,
    requestedMs,
    decidedMs,
    slotMs: line.fromMonotonic(marks.slotMs),
    startDelayMs,
    spawnedMs,
    bootedMs: timings === undefined ? null : inOrder(timings.bootedMs),
    loadedMs: timings === undefined ? null : inOrder(timings.loadedMs),
    listeningMs: timings === undefined ? readyMs : inOrder(timings.listeningMs),
    firstResponseMs,
  };
}

import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../core/clock.ts';

/**
 * Repeats `timer` until all of `ms` has passed. Node's timers count whole ms and may end up to 1 ms
 * early; then something would happen before its time.
 */
export async function sleepFully(
  ms: number,
  monotonicMs: () => number,
  timer: (ms: number) => Promise<unknown>,
): Promise<void> {
  const endMs = monotonicMs() + ms;
  for (let leftMs = ms; leftMs > 0; leftMs = endMs - monotonicMs()) await timer(leftMs);
}

/** The real clock: the only place that asks the machine for the time. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (ms, signal) =>
    sleepFully(
      ms,
      () => performance.now(),
      (leftMs) => sleep(leftMs, undefined, signal === undefined ? {} : { signal }),
    ),
};

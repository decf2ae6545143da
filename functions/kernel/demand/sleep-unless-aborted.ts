import type { Clock } from '../core/clock.ts';

/** Sleeps; an abort ends it early and is an outcome, not an error. */
export async function sleepUnlessAborted(
  clock: Clock,
  ms: number,
  signal: AbortSignal,
): Promise<'slept' | 'aborted'> {
  if (signal.aborted) return 'aborted';
  try {
    await clock.sleep(ms, signal);
    return 'slept';
  } catch (error) {
    if (signal.aborted) return 'aborted';
    throw error;
  }
}

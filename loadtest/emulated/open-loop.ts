import type { Clock } from '#kernel/core/clock.ts';

export interface OpenLoopOptions<T extends { readonly intendedMs: number }> {
  /** Ascending by intended time. */
  readonly plan: readonly T[];
  /** Sends one and waits for its verdict; rejects on a bug only. */
  readonly send: (item: T) => Promise<void>;
  /** Sent and without a verdict at once; the next one then waits, which is counted. */
  readonly maxOutstanding: number;
  /** Origin of the intended times, `clock`'s monotonic ms. */
  readonly startMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

export interface OpenLoopResult {
  /** How many were sent. */
  readonly sent: number;
  /** How many were held back because `maxOutstanding` others had no verdict. */
  readonly held: number;
}

/**
 * Sends each item at its intended time and never waits for an answer to send the next one: a slow
 * system makes the outstanding ones more, not the load smaller. Resolves when all have their verdict, or
 * after an abort, when those under way have.
 */
export async function openLoop<T extends { readonly intendedMs: number }>(
  options: OpenLoopOptions<T>,
): Promise<OpenLoopResult> {
  const { plan, send, maxOutstanding, startMs, clock, signal } = options;
  const underWay = new Set<Promise<void>>();
  let sent = 0;
  let held = 0;
  // Kept until the loop looks: a rejection that nobody awaits yet would end the process.
  const failures: unknown[] = [];
  for (const item of plan) {
    if (!(await sleepUntil(startMs + item.intendedMs, clock, signal))) break;
    if (underWay.size >= maxOutstanding) {
      held += 1;
      await Promise.race(underWay);
    }
    if (signal.aborted || failures.length > 0) break;
    const sending = send(item)
      .catch((error: unknown) => {
        failures.push(error);
      })
      .finally(() => underWay.delete(sending));
    underWay.add(sending);
    sent += 1;
  }
  await Promise.all(underWay);
  if (failures.length > 0) throw failures[0];
  return { sent, held };
}

/** False when the signal ended the wait. */
async function sleepUntil(dueMs: number, clock: Clock, signal: AbortSignal): Promise<boolean> {
  try {
    await clock.sleep(dueMs - clock.monotonicMs(), signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return !signal.aborted;
}

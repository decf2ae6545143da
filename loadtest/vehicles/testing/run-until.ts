import type { VirtualClock } from '#kernel/core/clock.ts';
import { nextTurn } from '#kernel/system/next-turn.ts';

const STEP_MS = 5;
/** Ten virtual minutes: a promise that is still open then never settles. */
const MAX_STEPS = 120_000;

/**
 * Moves a virtual clock on until the promise settles. Between two steps whatever is ready runs, work of
 * other threads (compression) too.
 */
export async function runUntil<T>(clock: VirtualClock, promise: Promise<T>): Promise<T> {
  const state = { isSettled: false };
  const done = promise.finally(() => {
    state.isSettled = true;
  });
  // Whoever awaits the result hears of a rejection; it must not count as unhandled before that.
  done.catch(() => undefined);
  for (let step = 0; step < MAX_STEPS; step++) {
    for (let turn = 0; turn < 3; turn++) await nextTurn();
    if (state.isSettled) return done;
    await clock.advance(STEP_MS);
  }
  throw new Error('Nothing settled within ten virtual minutes');
}

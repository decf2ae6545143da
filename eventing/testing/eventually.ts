import { systemClock } from '#kernel/system/system-clock.ts';

const POLL_MS = 5;

/** Waits for a state of another process that announces nothing. Throws after `limitMs`. */
export async function eventually(
  check: () => boolean | Promise<boolean>,
  limitMs = 20_000,
): Promise<void> {
  const deadlineMs = systemClock.monotonicMs() + limitMs;
  while (!(await check())) {
    if (systemClock.monotonicMs() > deadlineMs) throw new Error(`not within ${limitMs} ms`);
    await systemClock.sleep(POLL_MS);
  }
}

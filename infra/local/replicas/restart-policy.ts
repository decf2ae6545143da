/** How long a crashed process waits for its next start. All in ms. */
export interface RestartPolicy {
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  /** A process that was ready this long starts its count of crashes anew. */
  readonly stableMs: number;
}

export const RESTART_POLICY: RestartPolicy = {
  firstDelayMs: 250,
  maxDelayMs: 30_000,
  stableMs: 30_000,
};

/**
 * The number of crashes in a row, this one included. `readyMs` is how long the process had been ready
 * when it ended, 0 when it never was.
 */
export const crashesInRow = (before: number, readyMs: number, policy: RestartPolicy): number =>
  readyMs >= policy.stableMs ? 1 : before + 1;

/**
 * The wait before the next start: 250, 500, 1000 … ms, at most 30 s. There is no last try: a stage
 * may be down because of its surroundings, which get repaired.
 */
export function restartDelayMs(crashes: number, policy: RestartPolicy): number {
  // 2^53 is far above any maximum, and the exponent stays finite for any count.
  const doublings = Math.min(Math.max(0, crashes - 1), 53);
  return Math.min(policy.maxDelayMs, policy.firstDelayMs * 2 ** doublings);
}

import { systemClock } from '#kernel/system/system-clock.ts';
import type { ClusterStatus } from '../cluster.ts';

/** The processes of a cluster: stages, and nats-server where it is its own. */
export function pidsOf(status: ClusterStatus): number[] {
  const stages = status.services.flatMap(({ replicas }) => replicas.map(({ pid }) => pid));
  return [...stages, status.natsPid].filter((pid) => pid !== undefined);
}

const POLL_MS = 20;
const LIMIT_MS = 20_000;

/** Waits for another process: resolves with the first value that is neither false nor undefined. */
export async function until<T>(
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  limitMs = LIMIT_MS,
): Promise<T> {
  const deadlineMs = systemClock.monotonicMs() + limitMs;
  while (systemClock.monotonicMs() < deadlineMs) {
    const value = await probe();
    if (value !== undefined && value !== false) return value;
    await systemClock.sleep(POLL_MS);
  }
  throw new Error(`It did not come true within ${limitMs} ms`);
}

import type { Clock } from '#kernel/core/clock.ts';
import type { ScaledBy } from '#loadtest/results/policy-rows.ts';

/** Replicas of a Service that are there in any phase. */
export interface ReplicasNow {
  readonly ready: number;
  readonly starting: number;
  readonly draining: number;
}

export interface RestWait {
  /** By Service. */
  readonly replicasNow: () => Promise<Readonly<Record<string, ReplicasNow>>>;
  /** What each Service has without load; 0 where it is not said. */
  readonly resting: ReadonlyMap<string, number>;
  readonly withinMs: number;
  readonly clock: Clock;
  /** Ends the wait by rejecting with its reason. */
  readonly signal: AbortSignal;
}

const POLL_MS = 100;

/** Resolves when no Service has more replicas than at rest (true), or when the time is up (false). */
export async function awaitRest(wait: RestWait): Promise<boolean> {
  const { clock, withinMs, resting, signal } = wait;
  const untilMs = clock.monotonicMs() + withinMs;
  for (;;) {
    const now = Object.entries(await wait.replicasNow());
    const isAtRest = now.every(
      ([service, { ready, starting, draining }]) =>
        ready + starting + draining <= (resting.get(service) ?? 0),
    );
    if (isAtRest) return true;
    if (clock.monotonicMs() >= untilMs) return false;
    await clock.sleep(POLL_MS, signal);
  }
}

/**
 * Replicas that a policy keeps without load. A policy of the user's own may do anything: 0, so that the
 * way to zero is waited for.
 */
export function restingReplicas(scaledBy: readonly ScaledBy[]): ReadonlyMap<string, number> {
  return new Map(scaledBy.map((row) => [row.service, restOf(row)]));
}

function restOf({ service, policy, config }: ScaledBy): number {
  switch (policy) {
    case 'kpa':
      // Without scale to zero the last one stays.
      return isFields(config) && config['enableScaleToZero'] === false
        ? Math.max(1, numberAt(config, 'minScale'))
        : numberAt(config, 'minScale');
    case 'hpa':
      return numberAt(config, 'minReplicas');
    case 'keda':
      return numberAt(config, 'idleReplicaCount', numberAt(config, 'minReplicaCount'));
    case 'fixed':
      return numberAt(config, 'replicas');
    case 'schedule':
      return numberAt(listAt(config, 'steps').at(-1), 'replicas');
    case 'node': {
      const own = listAt(config, 'services').find(
        (item) => isFields(item) && item['name'] === service,
      );
      return numberAt(config, 'minNodes') * numberAt(own, 'replicasPerNode');
    }
    default:
      return 0;
  }
}

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

function numberAt(config: unknown, name: string, otherwise = 0): number {
  const value = isFields(config) ? config[name] : undefined;
  return typeof value === 'number' ? value : otherwise;
}

function listAt(config: unknown, name: string): readonly unknown[] {
  const value = isFields(config) ? config[name] : undefined;
  return Array.isArray(value) ? value : [];
}

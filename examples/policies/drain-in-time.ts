import type { CustomPolicyInput } from '#infra/autoscaling/custom/custom-policy.ts';

/**
 * As many replicas as it takes to finish the backlog in time.
 *
 * Little's law, turned round: events that wait, divided by what one replica finishes in the time allowed.
 * Worked number: 120 events wait, one replica finishes 4 a second, 10 s are allowed: 120 / (4 × 10) = 3.
 */
interface Config {
  readonly perReplicaPerS: number;
  readonly drainWithinS: number;
  /** So long nothing must wait before the last replica goes. */
  readonly idleS: number;
}

/** When something waited last; undefined: never. */
type State = { readonly busyMs: number } | undefined;

const DEFAULTS: Config = { perReplicaPerS: 4, drainWithinS: 10, idleS: 15 };

export default function drainInTime({ config, state, observation, nowMs }: CustomPolicyInput) {
  const { perReplicaPerS, drainWithinS, idleS } = { ...DEFAULTS, ...(config as Partial<Config>) };
  const arriving = observation.stats.reduce((sum, stat) => sum + stat.averageConcurrency, 0);
  // Without a Trigger there is no backlog: then what is inside the Service counts.
  const waiting = observation.lag ?? arriving;
  if (waiting > 0) {
    const desired = Math.ceil(waiting / (perReplicaPerS * drainWithinS));
    return {
      desired,
      state: { busyMs: nowMs },
      reason: `${waiting} wait; ${desired} replicas finish them within ${drainWithinS} s`,
      details: { waiting },
    };
  }
  const busyMs = (state as State)?.busyMs ?? -Infinity;
  const idleMs = nowMs - busyMs;
  const last = Math.min(1, observation.replicas);
  const desired = idleMs >= idleS * 1_000 ? 0 : last;
  return {
    desired,
    state: { busyMs },
    reason: desired === 0 ? 'nothing waits' : `nothing waits, but ${idleS} s have not passed`,
    details: { waiting },
  };
}

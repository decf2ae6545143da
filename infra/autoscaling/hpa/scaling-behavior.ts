import type { HpaWithBehavior, ScalingRules } from './hpa-config.ts';

/** A change of replicas that was made. */
export interface ScaleEvent {
  readonly atMs: number;
  /** Above 0 up, below 0 down. */
  readonly change: number;
}

export interface Recommendation {
  readonly atMs: number;
  readonly replicas: number;
}

export interface BehaviorState {
  readonly events: readonly ScaleEvent[];
  readonly recommendations: readonly Recommendation[];
}

export const NO_BEHAVIOR: BehaviorState = { events: [], recommendations: [] };

/** Source of all here: kubernetes pkg/controller/podautoscaler/horizontal.go, for an HPA with `behavior`. */

/**
 * The recommendation after the stabilisation windows: up only as far as the least of the last up window,
 * down only as far as the greatest of the last down window (stabilizeRecommendationWithBehaviors).
 */
export function stabilize(
  config: HpaWithBehavior,
  { recommendations }: BehaviorState,
  currentReplicas: number,
  desired: number,
  nowMs: number,
): number {
  const { scaleUp, scaleDown } = config.behavior;
  const upMs = scaleUp.stabilizationWindowMs ?? 0;
  const downMs = scaleDown.stabilizationWindowMs ?? config.downscaleStabilizationMs;
  let up = desired;
  let down = desired;
  for (const { atMs, replicas } of recommendations) {
    if (atMs > nowMs - upMs) up = Math.min(up, replicas);
    if (atMs > nowMs - downMs) down = Math.max(down, replicas);
  }
  return Math.min(Math.max(currentReplicas, up), down);
}

/**
 * Adds what the metrics asked for, before any limit, and forgets what no window reaches any more. The
 * newest one stays, also without windows.
 */
export function rememberRecommendation(
  config: HpaWithBehavior,
  { events, recommendations }: BehaviorState,
  replicas: number,
  nowMs: number,
): BehaviorState {
  const { scaleUp, scaleDown } = config.behavior;
  const keepMs = Math.max(
    scaleUp.stabilizationWindowMs ?? 0,
    scaleDown.stabilizationWindowMs ?? config.downscaleStabilizationMs,
  );
  const kept = recommendations.filter(({ atMs }) => atMs > nowMs - keepMs);
  return { events, recommendations: [...kept, { atMs: nowMs, replicas }] };
}

/** Adds a change that was made, and forgets those that no policy's period reaches any more. */
export function rememberChange(
  config: HpaWithBehavior,
  { events, recommendations }: BehaviorState,
  change: number,
  nowMs: number,
): BehaviorState {
  const { scaleUp, scaleDown } = config.behavior;
  const periods = [...scaleUp.policies, ...scaleDown.policies].map(({ periodMs }) => periodMs);
  const kept = events.filter(({ atMs }) => atMs > nowMs - Math.max(0, ...periods));
  return {
    events: change === 0 ? kept : [...kept, { atMs: nowMs, change }],
    recommendations,
  };
}

export interface Limited {
  readonly replicas: number;
  readonly limits: readonly string[];
}

/** Within the rates of the direction and within the bounds (convertDesiredReplicasWithBehaviorRate). */
export function limitRate(
  config: HpaWithBehavior,
  { events }: BehaviorState,
  currentReplicas: number,
  desired: number,
  nowMs: number,
): Limited {
  const { minReplicas, maxReplicas, behavior } = config;
  if (desired > currentReplicas) {
    const limit = Math.max(
      currentReplicas,
      upLimit(behavior.scaleUp, events, currentReplicas, nowMs),
    );
    const most = Math.min(maxReplicas, limit);
    if (desired <= most) return { replicas: desired, limits: [] };
    return { replicas: most, limits: [limit < maxReplicas ? 'behavior.scaleUp' : 'maxReplicas'] };
  }
  if (desired < currentReplicas) {
    const limit = Math.min(
      currentReplicas,
      downLimit(behavior.scaleDown, events, currentReplicas, nowMs),
    );
    const least = Math.max(minReplicas, limit);
    if (desired >= least) return { replicas: desired, limits: [] };
    return {
      replicas: least,
      limits: [limit > minReplicas ? 'behavior.scaleDown' : 'minReplicas'],
    };
  }
  return { replicas: desired, limits: [] };
}

/** Replicas at the begin of a policy's period: what was added since is taken off, what went is put back. */
function startOf(
  events: readonly ScaleEvent[],
  currentReplicas: number,
  periodMs: number,
  nowMs: number,
): number {
  const changed = events.reduce(
    (sum, { atMs, change }) => (atMs > nowMs - periodMs ? sum + change : sum),
    0,
  );
  return currentReplicas - changed;
}

function upLimit(
  { policies, selectPolicy }: ScalingRules,
  events: readonly ScaleEvent[],
  currentReplicas: number,
  nowMs: number,
): number {
  if (selectPolicy === 'Disabled') return currentReplicas;
  const proposals = policies.map(({ type, value, periodMs }) => {
    const start = startOf(events, currentReplicas, periodMs, nowMs);
    return type === 'Pods' ? start + value : Math.ceil(start * (1 + value / 100));
  });
  return selectPolicy === 'Min' ? Math.min(...proposals) : Math.max(...proposals);
}

/** The greatest change (Max) is the smallest number. */
function downLimit(
  { policies, selectPolicy }: ScalingRules,
  events: readonly ScaleEvent[],
  currentReplicas: number,
  nowMs: number,
): number {
  if (selectPolicy === 'Disabled') return currentReplicas;
  const proposals = policies.map(({ type, value, periodMs }) => {
    const start = startOf(events, currentReplicas, periodMs, nowMs);
    return type === 'Pods' ? start - value : Math.trunc(start * (1 - value / 100));
  });
  return selectPolicy === 'Min' ? Math.max(...proposals) : Math.min(...proposals);
}

import type { DataPath } from '#infra/autoscaling/policy.ts';
import type { KpaConfig } from './kpa-config.ts';

/** The PodAutoscaler's condition "Active". */
export type ActiveStatus = 'activating' | 'active' | 'inactive';

/** What the way to zero depends on, beside the wanted scale. */
export interface ZeroInputs {
  readonly status: ActiveStatus;
  /** Since when the condition has been so. */
  readonly statusSinceMs: number;
  /** Mode of the data path, and since when the activator has been in it (null: it is not). */
  readonly path: DataPath;
  readonly proxySinceMs: number | null;
  /** The first initial-scale replicas were ready once. */
  readonly initialised: boolean;
  /** Whether a probe through the path is answered by the activator. */
  readonly activatorAnswers: boolean;
}

export interface ZeroOutcome {
  /** Replicas wanted, −1: not known yet. */
  readonly desired: number;
  /** Whether the replicas are to be changed; else only the conditions are. */
  readonly apply: boolean;
  /** Come back then. */
  readonly againAtMs: number | null;
  readonly limits: readonly string[];
  readonly reason: string;
}

/**
 * Beyond the progress deadline: the revision is to find out first why its pods fail (upstream's
 * activationTimeoutBuffer).
 */
const ACTIVATION_BUFFER_MS = 30_000;
/** Long enough for the reconciliation under way to end. */
const REQUEUE_MS = 3_000;
/** How often it is asked again whether the activator answers. */
const PROBE_PERIOD_MS = 1_000;

/**
 * From the wanted scale to what is asked for: bounds, initial scale, and the steps to zero.
 *
 * Source: knative/serving pkg/reconciler/autoscaling/kpa/scaler.go, scale and handleScaleToZero
 * (98e5ef9). `desired` −1 means that there is no decision yet.
 */
export function scaleFor(
  config: KpaConfig,
  inputs: ZeroInputs,
  desired: number,
  nowMs: number,
): ZeroOutcome {
  if (desired < 0 && inputs.status !== 'activating') {
    return kept(desired, null, 'nothing was measured yet');
  }
  const { initialScale, minScale, maxScale, reachable } = config;
  const initial = initialScale > 1 && !inputs.initialised && reachable;
  const min = initial ? Math.max(initialScale, reachable ? minScale : 0) : reachable ? minScale : 0;
  const limits: string[] = [];
  let bounded = desired;
  if (bounded < min) {
    bounded = min;
    // −1, no decision, becomes 0 by the same rule; that is no limit at work.
    if (min > 0) limits.push(initial && initialScale >= minScale ? 'initial-scale' : 'min-scale');
  } else if (maxScale !== null && bounded > maxScale) {
    bounded = maxScale;
    limits.push('max-scale');
  }
  const outcome = toZero(config, inputs, bounded, nowMs);
  return { ...outcome, limits: [...limits, ...outcome.limits] };
}

const kept = (desired: number, againAtMs: number | null, reason: string): ZeroOutcome => ({
  desired,
  apply: false,
  againAtMs,
  limits: [],
  reason,
});

const applied = (
  desired: number,
  reason: string,
  limits: readonly string[] = [],
  againAtMs: number | null = null,
): ZeroOutcome => ({ desired, apply: true, againAtMs, limits, reason });

/**
 * Zero in three steps: active for a stable window → inactive; the activator in the path; then the grace
 * period, or the time that the last pod is kept, from being inactive (or, faster, the grace period from
 * when the activator came into the path).
 */
function toZero(
  config: KpaConfig,
  inputs: ZeroInputs,
  desired: number,
  nowMs: number,
): ZeroOutcome {
  if (desired !== 0) return applied(desired, '');
  if (!config.enableScaleToZero) {
    return applied(1, 'scaling to zero is off', ['enable-scale-to-zero']);
  }
  const forMs = nowMs - inputs.statusSinceMs;
  if (inputs.status === 'activating') {
    const timeoutMs = config.progressDeadlineMs + ACTIVATION_BUFFER_MS;
    if (forMs > timeoutMs) return applied(0, 'the revision did not become ready in time');
    return kept(-1, nowMs + timeoutMs, 'it is being activated');
  }
  if (inputs.status === 'active') return whileActive(config, inputs, forMs, nowMs);
  return whileInactive(config, inputs, forMs, nowMs);
}

function whileActive(
  { stableWindowMs }: KpaConfig,
  { path }: ZeroInputs,
  activeForMs: number,
  nowMs: number,
): ZeroOutcome {
  if (activeForMs < stableWindowMs) {
    const leftMs = stableWindowMs - activeForMs;
    return applied(
      1,
      'no traffic, but active for less than the window',
      ['window'],
      nowMs + leftMs,
    );
  }
  // With the activator in the path already nothing else would bring the reconciler back.
  const againAtMs = path === 'proxy' ? nowMs + REQUEUE_MS : null;
  return kept(0, againAtMs, 'no traffic for the window: it becomes inactive');
}

function whileInactive(
  config: KpaConfig,
  inputs: ZeroInputs,
  inactiveForMs: number,
  nowMs: number,
): ZeroOutcome {
  if (config.targetBurstCapacity !== -1 && !inputs.activatorAnswers) {
    return kept(0, nowMs + PROBE_PERIOD_MS, 'the activator is not in the path yet');
  }
  const retentionMs = config.reachable ? config.podRetentionPeriodMs : 0;
  const graceMs = config.scaleToZeroGracePeriodMs;
  if (inactiveForMs >= Math.max(graceMs, retentionMs)) return applied(0, 'inactive long enough');
  if (retentionMs > 0 && inactiveForMs < retentionMs) {
    const againAtMs = nowMs + retentionMs - inactiveForMs;
    return {
      ...kept(0, againAtMs, 'the last pod is kept for a while'),
      limits: ['scale-to-zero-pod-retention-period'],
    };
  }
  const proxyForMs = inputs.proxySinceMs === null ? 0 : nowMs - inputs.proxySinceMs;
  if (proxyForMs >= graceMs) return applied(0, 'the activator has been in the path long enough');
  return {
    ...kept(0, nowMs + graceMs - proxyForMs, 'the grace period is not over'),
    limits: ['scale-to-zero-grace-period'],
  };
}

import type { HpaConfig } from './hpa-config.ts';
import type { Limited, Recommendation } from './scaling-behavior.ts';

/**
 * What the controller does for an HPA without `behavior`. It is not what the API's default behavior
 * does: from one replica it goes to 4, not to 5, and once more at the very next synchronisation, because
 * it remembers no changes.
 *
 * Source: kubernetes pkg/controller/podautoscaler/horizontal.go, normalizeDesiredReplicas.
 */
const UP_FACTOR = 2;
const UP_LEAST = 4;

/**
 * The greatest recommendation of the window, of which this one is part. It also raises: with 5 recommended
 * a minute ago 3 become 5, even where there are only 2 (stabilizeRecommendation).
 */
export function stabilizeDown(
  { downscaleStabilizationMs }: HpaConfig,
  recommendations: readonly Recommendation[],
  desired: number,
  nowMs: number,
): number {
  const recent = recommendations.filter(({ atMs }) => atMs >= nowMs - downscaleStabilizationMs);
  return Math.max(desired, ...recent.map(({ replicas }) => replicas));
}

/** Adds what the metrics asked for, before any limit, and forgets what the window does not reach. */
export function rememberInWindow(
  { downscaleStabilizationMs }: HpaConfig,
  recommendations: readonly Recommendation[],
  replicas: number,
  nowMs: number,
): readonly Recommendation[] {
  const kept = recommendations.filter(({ atMs }) => atMs >= nowMs - downscaleStabilizationMs);
  return [...kept, { atMs: nowMs, replicas }];
}

/**
 * Within the bounds, and up to twice as many or 4: from 1 to 4, from 3 to 6. Down there is no other limit
 * than the minimum (convertDesiredReplicasWithRules).
 */
export function limitGrowth(
  { minReplicas, maxReplicas }: HpaConfig,
  currentReplicas: number,
  desired: number,
): Limited {
  const limit = Math.max(UP_FACTOR * currentReplicas, UP_LEAST);
  const most = Math.min(maxReplicas, limit);
  if (desired < minReplicas) return { replicas: minReplicas, limits: ['minReplicas'] };
  if (desired <= most) return { replicas: desired, limits: [] };
  return { replicas: most, limits: [limit < maxReplicas ? 'scaleUpLimit' : 'maxReplicas'] };
}

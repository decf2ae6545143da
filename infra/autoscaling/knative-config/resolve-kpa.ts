import type { KpaConfig } from '#infra/autoscaling/kpa/kpa-config.ts';
import type { AutoscalingAnnotations } from './autoscaling-annotations.ts';
import { MIN_TARGET, type AutoscalerConfig } from './config-autoscaler.ts';

/** What a revision's own fields say of its scaling. */
export interface RevisionScaling {
  /** Requests one replica works on at once; 0: as many as come. */
  readonly containerConcurrency: number;
  /** Whether a route leads to it; without one its minimum does not hold. */
  readonly reachable?: boolean;
}

/** `progress-deadline` of Knative's ConfigMap config-deployment, at its default. */
const DEFAULT_PROGRESS_DEADLINE_MS = 600_000;
/** tickInterval, pkg/autoscaler/scaling/multiscaler.go: no key sets it. */
const TICK_INTERVAL_MS = 2_000;

/** Everything the KPA of one revision works with: its annotations, where they say nothing the ConfigMap. */
export function resolveKpaConfig(
  annotations: AutoscalingAnnotations,
  config: AutoscalerConfig,
  { containerConcurrency, reachable = true }: RevisionScaling,
): KpaConfig {
  const { target, total } = resolveTarget(annotations, config, containerConcurrency);
  const { initialScale: ownInitialScale } = annotations;
  // Checked when it was read, and again here, as upstream does: GetInitialScale.
  const zeroRefused = ownInitialScale === 0 && !config.allowZeroInitialScale;
  const { min, max } = resolveBounds(annotations, config, reachable);
  const panicThreshold = annotations.panicThresholdPercentage ?? config.panicThresholdPercentage;
  return {
    metric: annotations.metric === 'rps' ? 'rps' : 'concurrency',
    aggregation: annotations.aggregation,
    targetPerReplica: target,
    totalPerReplica: total,
    stableWindowMs: annotations.windowMs ?? config.stableWindowMs,
    panicWindowPercentage: annotations.panicWindowPercentage ?? config.panicWindowPercentage,
    panicThreshold: panicThreshold / 100,
    maxScaleUpRate: config.maxScaleUpRate,
    maxScaleDownRate: config.maxScaleDownRate,
    activationScale: annotations.activationScale ?? 1,
    scaleDownDelayMs: annotations.scaleDownDelayMs ?? config.scaleDownDelayMs,
    targetBurstCapacity: annotations.targetBurstCapacity ?? config.targetBurstCapacity,
    activatorCapacity: config.activatorCapacity,
    minScale: min,
    maxScale: max,
    initialScale: zeroRefused ? config.initialScale : (ownInitialScale ?? config.initialScale),
    enableScaleToZero: config.enableScaleToZero,
    scaleToZeroGracePeriodMs: config.scaleToZeroGracePeriodMs,
    podRetentionPeriodMs:
      annotations.scaleToZeroPodRetentionPeriodMs ?? config.scaleToZeroPodRetentionPeriodMs,
    progressDeadlineMs: annotations.progressDeadlineMs ?? DEFAULT_PROGRESS_DEADLINE_MS,
    tickIntervalMs: TICK_INTERVAL_MS,
    reachable,
  };
}

/** What one replica is to have on average, and what it can take at most. */
export interface MetricTarget {
  readonly target: number;
  readonly total: number;
}

/**
 * ResolveMetricTarget, knative/serving pkg/reconciler/autoscaling/resources/target.go. Concurrency 12 at
 * 75 % aims for 9 of 12; a target of 10 where a replica takes 1 at a time aims for 0.7 of 1; requests per
 * second with no annotation for 140 of 200.
 */
export function resolveTarget(
  annotations: Pick<AutoscalingAnnotations, 'metric' | 'target' | 'targetUtilizationPercentage'>,
  config: AutoscalerConfig,
  containerConcurrency: number,
): MetricTarget {
  const isRps = annotations.metric === 'rps';
  const concurrency = containerConcurrency || config.concurrencyTargetDefault;
  let total = isRps ? config.rpsTargetDefault : concurrency;
  if (annotations.target !== null) {
    // A replica never has more than its concurrency inside: a larger target would never be reached.
    const isCapped = annotations.metric === 'concurrency' && containerConcurrency !== 0;
    total = isCapped ? Math.min(annotations.target, containerConcurrency) : annotations.target;
  }
  const { targetUtilizationPercentage: percentage } = annotations;
  const ownFraction = isRps ? config.rpsTargetFraction : config.concurrencyTargetFraction;
  const fraction = percentage === null ? ownFraction : percentage / 100;
  return { target: Math.max(MIN_TARGET, total * fraction), total };
}

/** PodAutoscaler.ScaleBounds, pkg/apis/autoscaling/v1alpha1/pa_lifecycle.go; `max` null: none. */
export function resolveBounds(
  annotations: Pick<AutoscalingAnnotations, 'minScale' | 'maxScale'>,
  config: AutoscalerConfig,
  reachable: boolean,
): { readonly min: number; readonly max: number | null } {
  const max = annotations.maxScale ?? config.maxScale;
  return {
    min: reachable ? (annotations.minScale ?? config.minScale) : 0,
    max: max === 0 ? null : max,
  };
}

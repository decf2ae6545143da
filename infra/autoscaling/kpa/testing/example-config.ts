import type { KpaConfig } from '#infra/autoscaling/kpa/kpa-config.ts';

/** Knative's defaults for a revision without a concurrency limit. */
export const defaultConfig = (over: Partial<KpaConfig> = {}): KpaConfig => ({
  metric: 'concurrency',
  aggregation: 'linear',
  targetPerReplica: 70,
  totalPerReplica: 100,
  stableWindowMs: 60_000,
  panicWindowPercentage: 10,
  panicThreshold: 2,
  maxScaleUpRate: 1_000,
  maxScaleDownRate: 2,
  activationScale: 1,
  scaleDownDelayMs: 0,
  targetBurstCapacity: 211,
  activatorCapacity: 100,
  minScale: 0,
  maxScale: null,
  initialScale: 1,
  enableScaleToZero: true,
  scaleToZeroGracePeriodMs: 30_000,
  podRetentionPeriodMs: 0,
  progressDeadlineMs: 600_000,
  tickIntervalMs: 2_000,
  reachable: true,
  ...over,
});

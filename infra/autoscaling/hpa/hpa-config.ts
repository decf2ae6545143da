/** How fast replicas may change in one direction. */
export interface ScalingRules {
  /** null: the controller's own (scale-down: `downscaleStabilizationMs`; scale-up: none). */
  readonly stabilizationWindowMs: number | null;
  readonly policies: readonly ScalingPolicy[];
  readonly selectPolicy: 'Max' | 'Min' | 'Disabled';
  /** Share by which the ratio may miss 1 without a change; null: the controller's own. */
  readonly tolerance: number | null;
}

export interface ScalingPolicy {
  readonly type: 'Pods' | 'Percent';
  readonly value: number;
  readonly periodMs: number;
}

export type HpaMetric =
  | {
      readonly kind: 'cpu' | 'memory';
      /** Share of the request in percent; null: `averageValue` counts. */
      readonly utilizationPercent: number | null;
      /** Per replica, in thousandths of a CPU or in bytes; null: `utilizationPercent` counts. */
      readonly averageValue: number | null;
    }
  /** A figure from outside, divided by the replicas: KEDA's lag. */
  | { readonly kind: 'external'; readonly name: string; readonly averageValue: number }
  /** Knative's hpa class with a metric of requests; average a replica. */
  | { readonly kind: 'concurrency' | 'rps'; readonly averageValue: number };

export interface ScalingBehavior {
  readonly scaleUp: ScalingRules;
  readonly scaleDown: ScalingRules;
}

/** A HorizontalPodAutoscaler (autoscaling/v2) with what its controller is started with. */
export interface HpaConfig {
  readonly minReplicas: number;
  readonly maxReplicas: number;
  readonly metrics: readonly HpaMetric[];
  /** null: the object has no `behavior`, and the controller goes by fixed rules (without-behavior.ts). */
  readonly behavior: ScalingBehavior | null;
  readonly syncPeriodMs: number;
  readonly tolerance: number;
  readonly cpuInitializationPeriodMs: number;
  readonly initialReadinessDelayMs: number;
  readonly downscaleStabilizationMs: number;
  /** Window over which a replica's use is averaged: metrics-server has 15 s. */
  readonly metricWindowMs: number;
  /** null: the replicas request nothing, and a utilisation does not exist. */
  readonly cpuRequestMillis: number | null;
  readonly memoryRequestBytes: number | null;
}

export type HpaWithBehavior = HpaConfig & { readonly behavior: ScalingBehavior };

export const hasBehavior = (config: HpaConfig): config is HpaWithBehavior =>
  config.behavior !== null;

/** kube-controller-manager's defaults. */
export const CONTROLLER_DEFAULTS = {
  syncPeriodMs: 15_000,
  tolerance: 0.1,
  cpuInitializationPeriodMs: 300_000,
  initialReadinessDelayMs: 30_000,
  downscaleStabilizationMs: 300_000,
  metricWindowMs: 15_000,
} as const;

/** The API's defaults for what a `behavior` leaves out: pkg/apis/autoscaling/v2/defaults.go. */
export const DEFAULT_BEHAVIOR: ScalingBehavior = {
  scaleUp: {
    stabilizationWindowMs: 0,
    policies: [
      { type: 'Pods', value: 4, periodMs: 15_000 },
      { type: 'Percent', value: 100, periodMs: 15_000 },
    ],
    selectPolicy: 'Max',
    tolerance: null,
  },
  scaleDown: {
    stabilizationWindowMs: null,
    policies: [{ type: 'Percent', value: 100, periodMs: 15_000 }],
    selectPolicy: 'Max',
    tolerance: null,
  },
};

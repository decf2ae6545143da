/** What the KPA of one revision works with; every figure is resolved (annotation, else ConfigMap, else default). */
export interface KpaConfig {
  readonly metric: 'concurrency' | 'rps';
  readonly aggregation: 'linear' | 'weighted-exponential';
  /** Wanted average per replica: `totalPerReplica` × utilisation, at least 0.01. */
  readonly targetPerReplica: number;
  /** What one replica can take at most. */
  readonly totalPerReplica: number;
  readonly stableWindowMs: number;
  /** 1 to 100; the panic window is this share of the stable one, whole seconds, at least 1 s. */
  readonly panicWindowPercentage: number;
  /** 2 = panic when the panic window asks for twice the ready replicas. */
  readonly panicThreshold: number;
  readonly maxScaleUpRate: number;
  readonly maxScaleDownRate: number;
  /** 1: none. */
  readonly activationScale: number;
  readonly scaleDownDelayMs: number;
  /** −1: always through the activator; 0: only from zero; else requests to keep room for. */
  readonly targetBurstCapacity: number;
  readonly activatorCapacity: number;
  readonly minScale: number;
  /** null: no maximum. */
  readonly maxScale: number | null;
  readonly initialScale: number;
  readonly enableScaleToZero: boolean;
  readonly scaleToZeroGracePeriodMs: number;
  readonly podRetentionPeriodMs: number;
  /** How long a revision may take to become ready before it is given up. */
  readonly progressDeadlineMs: number;
  /** Hard-coded upstream: 2 s. */
  readonly tickIntervalMs: number;
  /** Whether a route leads to the revision. */
  readonly reachable: boolean;
}

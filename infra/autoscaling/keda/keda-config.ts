import type { HpaConfig } from '#infra/autoscaling/hpa/hpa-config.ts';

/** A ScaledObject with a nats-jetstream trigger. */
export interface KedaConfig {
  readonly pollingIntervalMs: number;
  /** From the last activity to the step to zero (or to idle). */
  readonly cooldownPeriodMs: number;
  /** The same for one that was never active, from its creation. */
  readonly initialCooldownPeriodMs: number;
  readonly minReplicaCount: number;
  readonly maxReplicaCount: number;
  /** Replicas when there is nothing to do; null: minReplicaCount. */
  readonly idleReplicaCount: number | null;
  /** Events for each replica. */
  readonly lagThreshold: number;
  /** Active is more than this. */
  readonly activationLagThreshold: number;
  /** The HPA that KEDA makes: min = max(1, minReplicaCount), on the lag. */
  readonly hpa: HpaConfig;
}

/** KEDA 2.20's defaults. */
export const KEDA_DEFAULTS = {
  pollingIntervalMs: 30_000,
  cooldownPeriodMs: 300_000,
  initialCooldownPeriodMs: 0,
  minReplicaCount: 0,
  maxReplicaCount: 100,
  lagThreshold: 10,
  activationLagThreshold: 0,
} as const;

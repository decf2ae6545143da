import {
  CONTROLLER_DEFAULTS,
  DEFAULT_BEHAVIOR,
  type HpaWithBehavior,
  type ScalingPolicy,
  type ScalingRules,
} from '#infra/autoscaling/hpa/hpa-config.ts';
import type { Observation, ReplicaObservation } from '#infra/autoscaling/policy.ts';

/** One to ten replicas of one CPU each, at 50 % of it. */
export const exampleHpa = (over: Partial<HpaWithBehavior> = {}): HpaWithBehavior => ({
  minReplicas: 1,
  maxReplicas: 10,
  metrics: [{ kind: 'cpu', utilizationPercent: 50, averageValue: null }],
  behavior: DEFAULT_BEHAVIOR,
  ...CONTROLLER_DEFAULTS,
  cpuRequestMillis: 1_000,
  memoryRequestBytes: null,
  ...over,
});

/** A replica that was started and ready long before any period of the tests began. */
export const examplePod = (
  name: string,
  over: Partial<ReplicaObservation> = {},
): ReplicaObservation => ({
  name,
  ready: true,
  draining: false,
  startedMs: 0,
  readySinceMs: 0,
  cpuMillis: null,
  memoryBytes: null,
  ...over,
});

/** So many replicas, each with the CPU that stands at its place; null: without a sample. */
export const examplePods = (millis: readonly (number | null)[]): readonly ReplicaObservation[] =>
  millis.map((cpuMillis, index) => examplePod(`pod-${index}`, { cpuMillis }));

export const exampleObservation = (over: Partial<Observation> = {}): Observation => ({
  stats: [],
  ready: 0,
  replicas: 1,
  pods: [],
  lag: null,
  ...over,
});

/** Upstream's generateScalingRules: a policy of replicas, one of per cent, either left out by 0. */
export const exampleRules = (
  pods: number,
  podsPeriodS: number,
  percent: number,
  percentPeriodS: number,
  stabilizationS: number,
): ScalingRules => {
  const policies: ScalingPolicy[] = [];
  if (pods > 0) policies.push({ type: 'Pods', value: pods, periodMs: podsPeriodS * 1_000 });
  if (percent > 0) {
    policies.push({ type: 'Percent', value: percent, periodMs: percentPeriodS * 1_000 });
  }
  return {
    stabilizationWindowMs: stabilizationS * 1_000,
    policies,
    selectPolicy: 'Max',
    tolerance: null,
  };
};

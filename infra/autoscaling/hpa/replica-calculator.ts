import type { ReplicaObservation } from '#infra/autoscaling/policy.ts';
import type { HpaConfig, HpaMetric } from './hpa-config.ts';

/** How one metric's figure becomes a number of replicas. */
export interface Proposal {
  readonly replicas: number;
  /** Use divided by target, of the ready replicas. */
  readonly ratio: number;
  /** Whole per cent of the request; null for metrics that are no utilisation. */
  readonly utilizationPercent: number | null;
}

export interface Groups {
  readonly ready: readonly ReplicaObservation[];
  /** Not usable yet: their figures would mislead. */
  readonly unready: readonly ReplicaObservation[];
  /** Without a sample. */
  readonly missing: readonly ReplicaObservation[];
}

/**
 * Source of all here: kubernetes pkg/controller/podautoscaler/replica_calculator.go, with tolerances for
 * each direction (KEP-4951).
 */

type Sampled = (pod: ReplicaObservation) => number | null;

const sampleOf =
  (kind: 'cpu' | 'memory'): Sampled =>
  (pod) =>
    kind === 'cpu' ? pod.cpuMillis : pod.memoryBytes;

/**
 * Sorts replicas as the HPA does (groupPods). What is being stopped counts nowhere. One that was never
 * ready and has no sample is what Kubernetes calls Pending: it waits for a node, or its process starts.
 */
export function groupReplicas(
  config: HpaConfig,
  kind: 'cpu' | 'memory',
  pods: readonly ReplicaObservation[],
  nowMs: number,
): Groups {
  const ready: ReplicaObservation[] = [];
  const unready: ReplicaObservation[] = [];
  const missing: ReplicaObservation[] = [];
  for (const pod of pods) {
    if (pod.draining) continue;
    const sampled = sampleOf(kind)(pod) !== null;
    const pending = !pod.ready && pod.readySinceMs === null && !sampled;
    if (pending) unready.push(pod);
    else if (!sampled) missing.push(pod);
    else if (kind === 'cpu' && isUnready(config, pod, nowMs)) unready.push(pod);
    else ready.push(pod);
  }
  return { ready, unready, missing };
}

/**
 * The CPU of a replica that starts says nothing about load. Within the initialisation period it counts
 * once it is ready and a whole metric window old since: ready 15 s ago with a window of 15 s counts, with
 * one of 16 s not. Later only one that was never ready is left out; Kubernetes guesses that from a
 * readiness that changed less than initialReadinessDelay after the start, which is the start itself here.
 */
function isUnready(config: HpaConfig, pod: ReplicaObservation, nowMs: number): boolean {
  const { cpuInitializationPeriodMs, initialReadinessDelayMs, metricWindowMs } = config;
  if (pod.startedMs + cpuInitializationPeriodMs > nowMs) {
    return !pod.ready || nowMs < (pod.readySinceMs ?? nowMs) + metricWindowMs;
  }
  return !pod.ready && pod.readySinceMs === null && initialReadinessDelayMs > 0;
}

export interface Tolerances {
  readonly up: number;
  readonly down: number;
}

const within = (ratio: number, { up, down }: Tolerances): boolean =>
  ratio >= 1 - down && ratio <= 1 + up;

/**
 * Replicas for a utilisation of requests, or for an average value: null where no ready replica has a
 * sample, or where what they request is not known.
 *
 * Missing replicas are taken to use their whole target when that would mean fewer, and nothing when it
 * would mean more; unready ones nothing when it would mean more: whatever is not known damps the change.
 */
export function resourceReplicas(
  config: HpaConfig,
  metric: ResourceMetric,
  currentReplicas: number,
  groups: Groups,
  tolerances: Tolerances,
): Proposal | null {
  const { ready, unready, missing } = groups;
  const full = fullUse(config, metric);
  if (ready.length === 0 || full === null) return null;
  const sample = sampleOf(metric.kind);
  const figures = new Map(ready.map((pod) => [pod.name, sample(pod) ?? 0]));
  const { ratio, utilizationPercent } = useOf(metric, full, figures);
  const keep = { replicas: currentReplicas, ratio, utilizationPercent };
  const scaleUpWithUnready = unready.length > 0 && ratio > 1;
  if (!scaleUpWithUnready && missing.length === 0) {
    if (within(ratio, tolerances)) return keep;
    return { ...keep, replicas: Math.ceil(ratio * ready.length) };
  }
  // A target of 300 % of the request is more than the request: a missing replica uses that.
  const wholeTarget = (full * Math.max(100, metric.utilizationPercent ?? 100)) / 100;
  for (const { name } of missing) {
    if (ratio < 1) figures.set(name, wholeTarget);
    else if (ratio > 1) figures.set(name, 0);
  }
  if (scaleUpWithUnready) for (const { name } of unready) figures.set(name, 0);
  const again = useOf(metric, full, figures).ratio;
  const reversed = (ratio < 1 && again > 1) || (ratio > 1 && again < 1);
  if (within(again, tolerances) || reversed) return keep;
  const replicas = Math.ceil(again * figures.size);
  const against =
    (again < 1 && replicas > currentReplicas) || (again > 1 && replicas < currentReplicas);
  return against ? keep : { ...keep, replicas };
}

export type ResourceMetric = Extract<HpaMetric, { kind: 'cpu' | 'memory' }>;

/** What one replica requests, or its target where that is an average value; null: not known. */
function fullUse(config: HpaConfig, metric: ResourceMetric): number | null {
  const request = metric.kind === 'cpu' ? config.cpuRequestMillis : config.memoryRequestBytes;
  const full = metric.utilizationPercent === null ? metric.averageValue : request;
  return full !== null && full > 0 ? full : null;
}

/**
 * Use against target. The percentage and the average are cut off to whole ones before they are compared;
 * what follows is not rounded: 100 % of 44 % with 11 replicas are 2.2727… × 11 = 25.000000000000004, hence
 * 26 replicas.
 */
function useOf(
  metric: ResourceMetric,
  full: number,
  figures: ReadonlyMap<string, number>,
): Pick<Proposal, 'ratio' | 'utilizationPercent'> {
  const sum = [...figures.values()].reduce((total, value) => total + value, 0);
  const target = metric.utilizationPercent;
  if (target === null) {
    return { ratio: Math.trunc(sum / figures.size) / full, utilizationPercent: null };
  }
  const utilizationPercent = Math.trunc((sum * 100) / (full * figures.size));
  return { ratio: utilizationPercent / target, utilizationPercent };
}

/**
 * Replicas for a figure from outside that is shared out: lag 45 at 10 each asks for 5. Kept while the
 * figure over (target × replicas) is within the tolerance: with 4 replicas 44 stays at 4 (1.1), 45 does
 * not. From zero replicas there is no ratio, and no tolerance.
 */
export function sharedReplicas(
  total: number,
  averageValue: number,
  currentReplicas: number,
  tolerances: Tolerances,
): Proposal {
  const ratio = currentReplicas > 0 ? total / (averageValue * currentReplicas) : Infinity;
  const replicas = within(ratio, tolerances) ? currentReplicas : Math.ceil(total / averageValue);
  return { replicas, ratio: Number.isFinite(ratio) ? ratio : 0, utilizationPercent: null };
}

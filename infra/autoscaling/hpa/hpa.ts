import { plainDecision } from '#infra/autoscaling/plain-decision.ts';
import type { Decision, Observation, Policy, Step } from '#infra/autoscaling/policy.ts';
import { hasBehavior, type HpaConfig, type HpaMetric } from './hpa-config.ts';
import {
  groupReplicas,
  resourceReplicas,
  sharedReplicas,
  type Proposal,
  type Tolerances,
} from './replica-calculator.ts';
import {
  limitRate,
  NO_BEHAVIOR,
  rememberChange,
  rememberRecommendation,
  stabilize,
  type BehaviorState,
  type Limited,
} from './scaling-behavior.ts';
import { limitGrowth, rememberInWindow, stabilizeDown } from './without-behavior.ts';

export interface HpaState {
  readonly behavior: BehaviorState;
}

/** Kubernetes' HorizontalPodAutoscaler: one synchronisation a period, from current use to replicas. */
export const hpaPolicy: Policy<HpaConfig, HpaState> = {
  name: 'hpa',
  pokes: false,
  periodMs: ({ syncPeriodMs }) => syncPeriodMs,
  start: () => ({ behavior: NO_BEHAVIOR }),
  decide: (config, state, observation, nowMs) =>
    synchronise(config, state, observation, nowMs, null),
};

/**
 * One synchronisation. `external`: the figure of external metrics; null: not to be had.
 *
 * The replicas found at the very first one count as a recommendation: a scaler that has just begun does
 * not lower them before its stabilisation window has passed.
 */
export function synchronise(
  config: HpaConfig,
  before: HpaState,
  observation: Observation,
  nowMs: number,
  external: number | null,
): Step<HpaState> {
  const current = observation.replicas;
  const state = begun(before, current, nowMs);
  const outside = outOfBounds(config, state, current, nowMs);
  if (outside !== null) return outside;
  const proposals = config.metrics.map((metric) => ({
    metric,
    proposal: propose(config, metric, observation, nowMs, external),
  }));
  const details = Object.assign({}, ...proposals.map(detailsOf)) as Decision['details'];
  const known = proposals.flatMap(({ proposal }) => proposal ?? []);
  const missing = known.length < proposals.length;
  const most = Math.max(...known.map(({ replicas }) => replicas));
  // Without all metrics the greatest of the others may raise, never lower: the one missing may be higher.
  if (known.length === 0 || (missing && most < current)) {
    const reason =
      known.length === 0
        ? `no metric has a value: ${current} stay`
        : `a metric has no value, the others want fewer: ${current} stay`;
    return { state, decision: decisionOf(null, null, reason, [], details) };
  }
  const { replicas, limits, behavior } = normalize(config, state.behavior, current, most, nowMs);
  const reason = `${reasonOf(proposals)}: ${most} wanted of ${current}, ${replicas} asked for`;
  return { state: { behavior }, decision: decisionOf(replicas, most, reason, limits, details) };
}

/** From what the metrics ask for to what is asked for: stabilised, then limited. */
function normalize(
  config: HpaConfig,
  before: BehaviorState,
  current: number,
  wanted: number,
  nowMs: number,
): Limited & { readonly behavior: BehaviorState } {
  const { events, recommendations } = before;
  if (!hasBehavior(config)) {
    const stabilized = stabilizeDown(config, recommendations, wanted, nowMs);
    const remembered = rememberInWindow(config, recommendations, wanted, nowMs);
    const limited = limitGrowth(config, current, stabilized);
    return {
      replicas: limited.replicas,
      limits: [...(stabilized === wanted ? [] : ['stabilization']), ...limited.limits],
      behavior: { events, recommendations: remembered },
    };
  }
  const stabilized = stabilize(config, before, current, wanted, nowMs);
  const { replicas, limits } = limitRate(config, before, current, stabilized, nowMs);
  const remembered = rememberRecommendation(config, before, wanted, nowMs);
  return {
    replicas,
    limits: [...(stabilized === wanted ? [] : ['stabilization']), ...limits],
    behavior: rememberChange(config, remembered, replicas - current, nowMs),
  };
}

function begun(state: HpaState, current: number, nowMs: number): HpaState {
  const { events, recommendations } = state.behavior;
  if (recommendations.length > 0) return state;
  return { behavior: { events, recommendations: [{ atMs: nowMs, replicas: current }] } };
}

/** Replicas outside of the bounds are brought back at once, whatever the metrics; null: they are within. */
function outOfBounds(
  config: HpaConfig,
  state: HpaState,
  current: number,
  nowMs: number,
): Step<HpaState> | null {
  const { minReplicas, maxReplicas } = config;
  if (current === 0 && minReplicas > 0) {
    // Somebody took all of them away, KEDA for one: the HPA leaves that alone.
    return { state, decision: decisionOf(null, null, 'switched off at 0 replicas', [], {}) };
  }
  if (current >= minReplicas && current <= maxReplicas) return null;
  const high = current > maxReplicas;
  const replicas = high ? maxReplicas : minReplicas;
  const limit = high ? 'maxReplicas' : 'minReplicas';
  const reason = `${current} replicas are outside of ${minReplicas} to ${maxReplicas}`;
  const behavior = hasBehavior(config)
    ? rememberChange(config, state.behavior, replicas - current, nowMs)
    : state.behavior;
  return { state: { behavior }, decision: decisionOf(replicas, replicas, reason, [limit], {}) };
}

function propose(
  config: HpaConfig,
  metric: HpaMetric,
  observation: Observation,
  nowMs: number,
  external: number | null,
): Proposal | null {
  const tolerances: Tolerances = {
    up: config.behavior?.scaleUp.tolerance ?? config.tolerance,
    down: config.behavior?.scaleDown.tolerance ?? config.tolerance,
  };
  const current = observation.replicas;
  if ('utilizationPercent' in metric) {
    const groups = groupReplicas(config, metric.kind, observation.pods, nowMs);
    return resourceReplicas(config, metric, current, groups, tolerances);
  }
  if (metric.kind === 'external') {
    if (external === null) return null;
    return sharedReplicas(external, metric.averageValue, current, tolerances);
  }
  const total = requestsOf(metric.kind, observation);
  return total === null ? null : sharedReplicas(total, metric.averageValue, current, tolerances);
}

/** Averages of the last period; null without a report. */
function requestsOf(kind: 'concurrency' | 'rps', { stats }: Observation): number | null {
  if (stats.length === 0) return null;
  const seconds = new Set(stats.map(({ atMs }) => Math.floor(atMs / 1_000))).size;
  const sum = stats.reduce(
    (total, stat) =>
      total +
      (kind === 'rps'
        ? stat.requestCount - stat.proxiedRequestCount
        : stat.averageConcurrency - stat.averageProxiedConcurrency),
    0,
  );
  return sum / seconds;
}

interface Proposed {
  readonly metric: HpaMetric;
  readonly proposal: Proposal | null;
}

const detailsOf = ({ metric, proposal }: Proposed): Decision['details'] => ({
  [`${metric.kind}Ratio`]: proposal?.ratio ?? null,
  [`${metric.kind}Replicas`]: proposal?.replicas ?? null,
  ...('utilizationPercent' in metric
    ? {
        [`${metric.kind}UtilizationPercent`]: proposal?.utilizationPercent ?? null,
        [`${metric.kind}TargetPercent`]: metric.utilizationPercent,
      }
    : { [`${metric.kind}Target`]: metric.averageValue }),
});

const reasonOf = (proposals: readonly Proposed[]): string =>
  proposals
    .map(({ metric, proposal }) => {
      if (proposal === null) return `${metric.kind} has no value`;
      const { utilizationPercent, ratio } = proposal;
      return utilizationPercent === null
        ? `${metric.kind} is ${ratio.toFixed(2)} of its target`
        : `${metric.kind} is ${utilizationPercent} % of what is requested`;
    })
    .join(', ');

const decisionOf = (
  desired: number | null,
  wanted: number | null,
  reason: string,
  limits: readonly string[],
  details: Decision['details'],
): Decision => plainDecision({ desired, wanted, reason, limits, details });

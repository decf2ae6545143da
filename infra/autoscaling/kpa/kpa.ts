import type { DataPath, Decision, Observation, Policy, Step } from '#infra/autoscaling/policy.ts';
import { activatorsFor, nextStatus, pathMode } from './data-path-mode.ts';
import type { KpaConfig } from './kpa-config.ts';
import { evaluate, startDecision, type DecisionState, type Evaluation } from './kpa-decision.ts';
import { averagesOf, emptyWindows, recordStat, type KpaWindows } from './kpa-windows.ts';
import { scaleFor, type ActiveStatus, type ZeroOutcome } from './zero-machine.ts';

/** Everything Knative remembers of one revision: decider, PodAutoscaler and ServerlessService. */
export interface KpaState {
  readonly windows: KpaWindows;
  readonly decision: DecisionState;
  /** The decider's last wish; −1: none yet. */
  readonly wanted: number;
  readonly excessBurstCapacity: number;
  readonly status: ActiveStatus;
  readonly statusSinceMs: number;
  readonly initialised: boolean;
  readonly path: DataPath;
  readonly proxySinceMs: number | null;
  /** What was asked for last; null: nothing yet. */
  readonly asked: number | null;
  /** Ready replicas at the last reconciliation; null: there was none. */
  readonly reconciledReady: number | null;
  /** When the reconciler asked to be called again; null: it waits for a change. */
  readonly againAtMs: number | null;
  /** Of the last reconciliation. */
  readonly reason: string;
  readonly limits: readonly string[];
}

/** Knative's own autoscaler, in its three layers: windows, decision, and the way to replicas. */
export const kpaPolicy: Policy<KpaConfig, KpaState> = {
  name: 'kpa',
  pokes: true,
  periodMs: ({ tickIntervalMs }) => tickIntervalMs,
  start: (config, { nowMs, ready }) => ({
    windows: emptyWindows(config),
    decision: startDecision(config, ready, nowMs),
    wanted: -1,
    excessBurstCapacity: startExcess(config),
    status: 'activating',
    statusSinceMs: nowMs,
    initialised: false,
    path: 'proxy',
    proxySinceMs: nowMs,
    asked: null,
    reconciledReady: null,
    againAtMs: null,
    reason: '',
    limits: [],
  }),
  decide,
};

/**
 * Before the first evaluation the initial scale stands for what is ready, and the figure is cut off, not
 * rounded down: 1 × 0.7 − 211 = −210.3 → −210. Source: multiscaler.go, createScaler (98e5ef9).
 */
function startExcess(config: KpaConfig): number {
  const { targetBurstCapacity, initialScale, totalPerReplica } = config;
  if (targetBurstCapacity === -1 || targetBurstCapacity === 0) return targetBurstCapacity;
  return Math.trunc(initialScale * totalPerReplica - targetBurstCapacity);
}

function decide(
  config: KpaConfig,
  state: KpaState,
  observation: Observation,
  nowMs: number,
): Step<KpaState> {
  // With the activator always in the path nothing is scraped: all figures come from it.
  const { targetBurstCapacity: burst } = config;
  const heard = observation.stats.filter(({ from }) => burst !== -1 || from === 'activator');
  const windows = heard.reduce(recordStat, state.windows);
  const averages = averagesOf(windows, config, nowMs);
  const evaluated =
    averages === null
      ? undefined
      : evaluate(config, state.decision, averages, observation.ready, nowMs);
  const measured: KpaState = {
    ...state,
    windows,
    ...(evaluated === undefined
      ? {}
      : {
          decision: evaluated.state,
          wanted: evaluated.evaluation.desired,
          excessBurstCapacity: evaluated.evaluation.excessBurstCapacity,
        }),
  };
  const due = reconciliationDue(state, measured, observation, nowMs);
  const { next, outcome } = due
    ? reconcile(config, measured, observation, nowMs)
    : { next: measured, outcome: undefined };
  const decision = decisionOf(config, next, observation, {
    averages,
    evaluation: evaluated?.evaluation,
    outcome,
  });
  return { state: next, decision };
}

/** Equal signs; zero counts as not negative. Source: multiscaler.go, sameSign. */
export const sameSign = (a: number, b: number): boolean => a < 0 === b < 0;

/**
 * The reconciler is called when the wish or the sign of the excess burst capacity changes, when replicas
 * become ready or go, and when it asked for it.
 */
function reconciliationDue(
  before: KpaState,
  { wanted, excessBurstCapacity: excess }: KpaState,
  { ready }: Observation,
  nowMs: number,
): boolean {
  return (
    before.reconciledReady !== ready ||
    before.wanted !== wanted ||
    !sameSign(before.excessBurstCapacity, excess) ||
    (before.againAtMs !== null && before.againAtMs <= nowMs)
  );
}

/**
 * A changed condition brings the reconciler back at once: an idle revision with the activator in the path
 * becomes inactive and goes to zero in one go (recorded: 18 ms apart). Each condition is reached once.
 */
function reconcile(
  config: KpaConfig,
  state: KpaState,
  observation: Observation,
  nowMs: number,
): { readonly next: KpaState; readonly outcome: ZeroOutcome } {
  let done = reconcileOnce(config, state, observation, nowMs);
  const reasons = [done.outcome.reason];
  for (let before = state.status; done.next.status !== before;) {
    before = done.next.status;
    done = reconcileOnce(config, done.next, observation, nowMs);
    reasons.push(done.outcome.reason);
  }
  const reason = [...new Set(reasons)].filter((text) => text !== '').join('; ');
  return { ...done, next: { ...done.next, reason } };
}

function reconcileOnce(
  config: KpaConfig,
  state: KpaState,
  { ready }: Observation,
  nowMs: number,
): { readonly next: KpaState; readonly outcome: ZeroOutcome } {
  const activatorAnswers = state.path === 'proxy';
  const outcome = scaleFor(config, { ...state, activatorAnswers }, state.wanted, nowMs);
  const path = pathMode(outcome.desired, state.excessBurstCapacity);
  const { status, initialised } = nextStatus(config, state.status, state.initialised, {
    want: outcome.desired,
    ready,
  });
  const changed = status !== state.status;
  const next: KpaState = {
    ...state,
    status,
    initialised,
    statusSinceMs: changed ? nowMs : state.statusSinceMs,
    path,
    proxySinceMs: path === 'serve' ? null : (state.proxySinceMs ?? nowMs),
    asked: outcome.apply ? outcome.desired : state.asked,
    reconciledReady: ready,
    againAtMs: outcome.againAtMs,
    reason: outcome.reason,
    limits: outcome.limits,
  };
  return { next, outcome };
}

interface Made {
  readonly averages: { readonly stable: number; readonly panic: number } | null;
  readonly evaluation: Evaluation | undefined;
  readonly outcome: ZeroOutcome | undefined;
}

function decisionOf(
  config: KpaConfig,
  state: KpaState,
  { ready }: Observation,
  { averages, evaluation, outcome }: Made,
): Decision {
  return {
    // Without data there is no decision, unless the reconciler had something to do.
    desired: averages === null && outcome === undefined ? null : state.asked,
    wanted: state.wanted < 0 ? null : state.wanted,
    reason: reasonOf(config, state, averages, evaluation),
    limits: [...(evaluation?.limits ?? []), ...state.limits],
    details: {
      metric: config.metric,
      stable: averages?.stable ?? null,
      panic: averages?.panic ?? null,
      target: config.targetPerReplica,
      desiredStable: evaluation?.desiredStable ?? null,
      desiredPanic: evaluation?.desiredPanic ?? null,
      readyReplicas: ready,
      maxScaleUp: evaluation?.maxScaleUp ?? null,
      maxScaleDown: evaluation?.maxScaleDown ?? null,
      excessBurstCapacity: state.excessBurstCapacity,
      activators: activatorsFor(config, ready),
      active: state.status,
    },
    panicking: state.decision.panicSinceMs !== null,
    path: state.path,
    againAtMs: state.againAtMs,
  };
}

function reasonOf(
  { metric, targetPerReplica }: KpaConfig,
  state: KpaState,
  averages: Made['averages'],
  evaluation: Evaluation | undefined,
): string {
  if (averages === null || evaluation === undefined) {
    return state.asked === null ? 'no data yet' : `no data: ${state.asked} stay`;
  }
  const { desiredStable, desiredPanic, desired, panicking } = evaluation;
  const stable = `${metric} ${averages.stable.toFixed(2)} over the stable window wants ${desiredStable}`;
  const panic = `${averages.panic.toFixed(2)} over the panic window ${desiredPanic}`;
  const mode = panicking ? 'panicking, ' : '';
  const end = state.reason === '' ? '' : `; ${state.reason}`;
  return `${stable}, ${panic} (target ${targetPerReplica}): ${mode}${desired} wanted${end}`;
}

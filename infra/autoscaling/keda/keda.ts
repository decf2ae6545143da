import { hpaPolicy, synchronise, type HpaState } from '#infra/autoscaling/hpa/hpa.ts';
import { plainDecision } from '#infra/autoscaling/plain-decision.ts';
import type { Decision, Observation, Policy, Step } from '#infra/autoscaling/policy.ts';
import type { KedaConfig } from './keda-config.ts';

export interface KedaState {
  readonly createdMs: number;
  /** Last poll that found it active; null: none did. */
  readonly lastActiveMs: number | null;
  readonly nextPollMs: number;
  readonly nextSyncMs: number;
  /** Of the last poll. */
  readonly active: boolean;
  readonly hpa: HpaState;
}

/**
 * KEDA: its operator moves between zero and one at each poll, the HPA it makes moves between one and
 * many at each synchronisation, both on the lag of the JetStream consumer. Both begin at the start; of
 * two on the same moment the poll comes first, and the HPA sees what it asked for.
 *
 * Source: kedacore/keda pkg/scaling/executor/scale_scaledobjects.go and pkg/scalers/nats_jetstream_scaler.go
 * (2.20.2): lag = num_pending + num_ack_pending, active when above activationLagThreshold.
 */
export const kedaPolicy: Policy<KedaConfig, KedaState> = {
  name: 'keda',
  pokes: false,
  periodMs: ({ pollingIntervalMs, hpa }) => Math.min(pollingIntervalMs, hpa.syncPeriodMs),
  start: ({ hpa }, start) => ({
    createdMs: start.nowMs,
    lastActiveMs: null,
    nextPollMs: start.nowMs,
    nextSyncMs: start.nowMs,
    active: false,
    hpa: hpaPolicy.start(hpa, start),
  }),
  decide: (config, state, observation, nowMs) => {
    const { lag } = observation;
    const polled = nowMs >= state.nextPollMs ? poll(config, state, observation, nowMs) : { state };
    const step =
      polled.wish === undefined
        ? synchroniseWhenDue(config, polled.state, observation, nowMs)
        : { state: polled.state, decision: wished(polled.wish) };
    const { nextPollMs, nextSyncMs, active } = step.state;
    const own = { lag, lagThreshold: config.lagThreshold, active };
    const limits = polled.cooling === true ? ['cooldownPeriod'] : [];
    return {
      state: step.state,
      decision: {
        ...step.decision,
        limits: [...limits, ...step.decision.limits],
        details: { ...step.decision.details, ...own },
        againAtMs: Math.min(nextPollMs, nextSyncMs),
      },
    };
  },
};

/** Replicas that the operator asks for. */
interface Wish {
  readonly replicas: number;
  readonly reason: string;
}

interface Polled {
  readonly state: KedaState;
  readonly wish?: Wish;
  /** It is not active, and kept by the cool-down alone. */
  readonly cooling?: boolean;
}

/** The grid's next point after now: a late poll does not make up for those it missed. */
const next = (beforeMs: number, periodMs: number, nowMs: number): number =>
  beforeMs + (Math.floor((nowMs - beforeMs) / periodMs) + 1) * periodMs;

function poll(
  config: KedaConfig,
  before: KedaState,
  { lag, replicas }: Observation,
  nowMs: number,
): Polled {
  const nextPollMs = next(before.nextPollMs, config.pollingIntervalMs, nowMs);
  const active = lag !== null && lag > config.activationLagThreshold;
  const lastActiveMs = active ? nowMs : before.lastActiveMs;
  const state: KedaState = { ...before, nextPollMs, active, lastActiveMs };
  // A scaler that fails, without a fallback, changes nothing.
  if (lag === null) return { state };
  const { idleReplicaCount: idle, minReplicaCount: min } = config;
  if (active) {
    if (replicas > 0 && (idle === null || replicas >= min)) return { state };
    const reason = `lag ${lag} is above ${config.activationLagThreshold}: activated`;
    return { state, wish: { replicas: Math.max(1, min), reason } };
  }
  if (idle === null && replicas < min) {
    const reason = `${replicas} replicas are fewer than minReplicaCount ${min}`;
    return { state, wish: { replicas: min, reason } };
  }
  const base = idle ?? (min === 0 ? 0 : null);
  if (base === null || replicas <= base) return { state };
  // Strictly later, in KEDA; but it writes both moments down in whole seconds, which are earlier.
  const waitedMs = nowMs - (lastActiveMs ?? before.createdMs);
  const coolMs = lastActiveMs === null ? config.initialCooldownPeriodMs : config.cooldownPeriodMs;
  if (waitedMs < coolMs) return { state, cooling: true };
  const reason = `not active for ${Math.round(waitedMs / 1_000)} s: deactivated`;
  return { state, wish: { replicas: base, reason } };
}

function synchroniseWhenDue(
  config: KedaConfig,
  state: KedaState,
  observation: Observation,
  nowMs: number,
): Step<KedaState> {
  const { lag, replicas } = observation;
  if (nowMs < state.nextSyncMs) {
    return { state, decision: noWish(`${replicas} stay until the next synchronisation`) };
  }
  const nextSyncMs = next(state.nextSyncMs, config.hpa.syncPeriodMs, nowMs);
  const step = synchronise(config.hpa, state.hpa, observation, nowMs, lag);
  const synced = { ...state, nextSyncMs, hpa: step.state };
  if (step.decision.desired !== null) return { state: synced, decision: step.decision };
  const reason = lag === null ? 'the lag cannot be read' : `lag ${lag}: not active`;
  const decision = { ...step.decision, reason: `${reason}, ${replicas} stay` };
  return { state: synced, decision };
}

const wished = ({ replicas, reason }: Wish): Decision =>
  plainDecision({ desired: replicas, reason });

const noWish = (reason: string): Decision => plainDecision({ desired: null, reason });

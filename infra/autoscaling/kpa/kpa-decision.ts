import type { KpaConfig } from './kpa-config.ts';
import { currentMax, emptyMaxWindow, recordMax, type MaxWindow } from './max-window.ts';

/** What one revision's autoscaler remembers between two evaluations. */
export interface DecisionState {
  /** Since when it panics; null: it does not. */
  readonly panicSinceMs: number | null;
  /** Most replicas wanted since the panic began: none of them goes before its end. */
  readonly maxPanicPods: number;
  /** Exists if there was a delay when the autoscaler was made; a later change never adds it. */
  readonly delay: MaxWindow | null;
}

export interface Evaluation {
  readonly desired: number;
  /** Room for more requests than now, less the burst to be prepared for; −1 and 0 where so configured. */
  readonly excessBurstCapacity: number;
  readonly desiredStable: number;
  readonly desiredPanic: number;
  readonly maxScaleUp: number;
  readonly maxScaleDown: number;
  readonly panicking: boolean;
  /** What changed the outcome, by the name of its setting. */
  readonly limits: readonly string[];
}

/**
 * A restarted autoscaler has lost its windows: with more than one replica ready it begins in panic, so
 * that it keeps what is there until it has seen a whole stable window.
 */
export function startDecision(config: KpaConfig, ready: number, nowMs: number): DecisionState {
  const { scaleDownDelayMs, tickIntervalMs } = config;
  return {
    panicSinceMs: ready > 1 ? nowMs : null,
    maxPanicPods: ready,
    delay: scaleDownDelayMs > 0 ? emptyMaxWindow(scaleDownDelayMs, tickIntervalMs) : null,
  };
}

/**
 * One evaluation: averages over both windows to the wanted number of replicas.
 *
 * Source: knative/serving pkg/autoscaler/scaling/autoscaler.go, Scale (98e5ef9). Worked number: target
 * 0.7, one request inside, one replica: ceil(1 / 0.7) = 2 wanted, 2 / 1 reaches the threshold of 2: a
 * single request at concurrency 1 panics.
 */
export function evaluate(
  config: KpaConfig,
  state: DecisionState,
  averages: { readonly stable: number; readonly panic: number },
  readyReplicas: number,
  nowMs: number,
): { readonly state: DecisionState; readonly evaluation: Evaluation } {
  const ready = Math.max(1, readyReplicas);
  // Rounded up, so that a small rate still lets one more in: 1.1 × 2 = 2.2 → 3.
  const maxScaleUp = Math.ceil(config.maxScaleUpRate * ready);
  const maxScaleDown = config.reachable ? Math.floor(ready / config.maxScaleDownRate) : 0;
  const wantedStable = Math.ceil(averages.stable / config.targetPerReplica);
  const wantedPanic = Math.ceil(averages.panic / config.targetPerReplica);
  const bounded = (wanted: number): Bounded => {
    const rated = Math.min(Math.max(wanted, maxScaleDown), maxScaleUp);
    const limits: string[] = [];
    if (rated > wanted) limits.push('max-scale-down-rate');
    if (rated < wanted) limits.push('max-scale-up-rate');
    if (wanted <= 0 || config.activationScale <= Math.max(1, rated)) return { pods: rated, limits };
    return { pods: config.activationScale, limits: [...limits, 'activation-scale'] };
  };
  const stable = bounded(wantedStable);
  const panic = bounded(wantedPanic);
  const over = wantedPanic / ready >= config.panicThreshold;
  const panicking = panicState(config, state, over, nowMs);
  let desired = stable.pods;
  // Of the window that decides: the panic window where it asks for more during a panic.
  const panicDecides = panicking.panicSinceMs !== null && panic.pods > stable.pods;
  const limits = new Set((panicDecides ? panic : stable).limits);
  let { maxPanicPods } = panicking;
  if (panicking.panicSinceMs !== null) {
    desired = Math.max(stable.pods, panic.pods);
    if (desired < maxPanicPods) limits.add('panic');
    maxPanicPods = Math.max(maxPanicPods, desired);
    desired = maxPanicPods;
  }
  let { delay } = state;
  if (config.reachable && delay !== null) {
    delay = recordMax(delay, nowMs, desired);
    const delayed = currentMax(delay);
    if (delayed > desired) limits.add('scale-down-delay');
    desired = delayed;
  }
  return {
    state: { panicSinceMs: panicking.panicSinceMs, maxPanicPods, delay },
    evaluation: {
      desired,
      excessBurstCapacity: excessBurstCapacity(config, readyReplicas, averages.panic),
      desiredStable: wantedStable,
      desiredPanic: wantedPanic,
      maxScaleUp,
      maxScaleDown,
      panicking: panicking.panicSinceMs !== null,
      limits: [...limits],
    },
  };
}

interface Bounded {
  readonly pods: number;
  readonly limits: readonly string[];
}

/** Panic begins and is prolonged over the threshold; it ends *after* a stable window below, not at it. */
function panicState(
  { stableWindowMs }: KpaConfig,
  { panicSinceMs, maxPanicPods }: DecisionState,
  over: boolean,
  nowMs: number,
): Pick<DecisionState, 'panicSinceMs' | 'maxPanicPods'> {
  if (over) return { panicSinceMs: nowMs, maxPanicPods };
  if (panicSinceMs !== null && panicSinceMs + stableWindowMs < nowMs) {
    return { panicSinceMs: null, maxPanicPods: 0 };
  }
  return { panicSinceMs, maxPanicPods };
}

/** By the replicas that are really ready, 0 included. 3 ready × 100 − 211 − 20 = 69. */
export function excessBurstCapacity(
  { targetBurstCapacity, totalPerReplica }: KpaConfig,
  ready: number,
  panicAverage: number,
): number {
  if (targetBurstCapacity === 0) return 0;
  if (targetBurstCapacity < 0) return -1;
  return Math.floor(ready * totalPerReplica - targetBurstCapacity - panicAverage);
}

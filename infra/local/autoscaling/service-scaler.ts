import { plainDecision } from '#infra/autoscaling/plain-decision.ts';
import type { Decision, Observation, Stat } from '#infra/autoscaling/policy.ts';
import type { DecisionRow } from '#infra/local/cluster-records.ts';
import type { Clock } from '#kernel/core/clock.ts';
import { TachographError } from '#kernel/core/errors.ts';
import type { Log } from '#kernel/system/log.ts';
import type { PolicyEngine } from './policy-engine.ts';

/** What the scaler of one Service sees and moves. */
export interface ScaledService {
  readonly name: string;
  /** Everything but the statistics, which arrive by `note`. */
  observe(): Omit<Observation, 'stats'>;
  apply(decision: Decision, decidedMs: number): void;
}

export interface ServiceScalerOptions {
  readonly service: ScaledService;
  readonly engine: PolicyEngine;
  readonly clock: Clock;
  /** Monotonic time of the cluster's start: the origin of all `nowMs`. */
  readonly originMs: number;
  readonly log: Log;
  readonly onRow: (row: DecisionRow) => void;
}

/** Two decisions are never closer than this, however soon a policy asks to be asked again. */
const MIN_PERIOD_MS = 50;
/** Statistics between two decisions: one a second from each proxy, with room for the longest period. */
export const MAX_STATS = 10_000;

/**
 * The loop around one Service's policy: observe, decide, write down, apply. A policy that fails costs a
 * decision, never the loop: what was asked for last stays.
 */
export class ServiceScaler {
  readonly #options: ServiceScalerOptions;
  readonly #stopping = new AbortController();
  #stats: Stat[] = [];
  #last: Decision | undefined;
  #wanted: number | null = null;
  #wake: (() => void) | undefined;
  #poked = false;
  #loop: Promise<void> | undefined;
  #droppedStats = 0;

  constructor(options: ServiceScalerOptions) {
    this.#options = options;
  }

  get last(): Decision | undefined {
    return this.#last;
  }

  get droppedStats(): number {
    return this.#droppedStats;
  }

  start(ready: number): void {
    const { engine, service, onRow } = this.#options;
    const nowMs = this.#nowMs();
    engine.start({ nowMs, ready });
    const { name: policy, module, periodMs, config } = engine;
    onRow({
      kind: 'policy',
      atMs: nowMs,
      service: service.name,
      policy,
      module,
      periodMs,
      config,
      ready,
    });
    this.#loop = this.#run();
  }

  /** What proxies reported. Without a decision for very long the oldest go. */
  note(stats: readonly Stat[]): void {
    this.#stats.push(...stats);
    const excess = this.#stats.length - MAX_STATS;
    if (excess <= 0) return;
    this.#stats.splice(0, excess);
    this.#droppedStats += excess;
  }

  /**
   * A request has arrived. Where the policy's last wish was exactly zero replicas (which may still be
   * some, on their way to zero), it is asked at once and not at its next period; so it is before its
   * first wish, for a Service that begins at zero.
   */
  poke(): void {
    if (!this.#options.engine.pokes || (this.#wanted ?? 0) !== 0) return;
    this.#poked = true;
    this.#wake?.();
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('The autoscaler is being stopped'));
    await this.#loop;
    await this.#options.engine.close();
  }

  #nowMs(): number {
    return this.#options.clock.monotonicMs() - this.#options.originMs;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    let tickMs = this.#nowMs();
    while (!signal.aborted) {
      await this.#decide();
      // Ticks keep their grid: a decision in between does not shift it.
      const { periodMs } = this.#options.engine;
      while (tickMs <= this.#nowMs()) tickMs += periodMs;
      const again = this.#last?.againAtMs ?? Infinity;
      await this.#pause(Math.min(tickMs, again));
    }
  }

  /** Until a moment, a poke or the stop. */
  async #pause(untilMs: number): Promise<void> {
    if (this.#poked) {
      this.#poked = false;
      return;
    }
    const waking = new AbortController();
    this.#wake = () => waking.abort();
    const { clock } = this.#options;
    const ms = Math.max(MIN_PERIOD_MS, untilMs - this.#nowMs());
    const both = AbortSignal.any([waking.signal, this.#stopping.signal]);
    // Only the two signals end a sleep early, and both are what the loop waits for.
    await clock.sleep(ms, both).catch(() => undefined);
    this.#wake = undefined;
    this.#poked = false;
  }

  async #decide(): Promise<void> {
    const { service, engine, onRow } = this.#options;
    const nowMs = this.#nowMs();
    const stats = this.#stats;
    this.#stats = [];
    const observation: Observation = { stats, ...service.observe() };
    const decision = await this.#ask(engine, observation, nowMs);
    if (this.#stopping.signal.aborted) return;
    this.#last = decision;
    this.#wanted = decision.wanted ?? this.#wanted;
    onRow({ kind: 'decision', atMs: nowMs, service: service.name, observation, decision });
    service.apply(decision, nowMs);
  }

  async #ask(engine: PolicyEngine, observation: Observation, nowMs: number): Promise<Decision> {
    try {
      return await engine.decide(observation, nowMs);
    } catch (error) {
      if (!(error instanceof TachographError)) throw error;
      const { service, log } = this.#options;
      if (!this.#stopping.signal.aborted) {
        log.error('a policy gave no decision', { service: service.name, why: error.message });
      }
      return plainDecision({
        desired: null,
        reason: `${error.message}; what was asked for last stays (${observation.replicas})`,
        details: { failed: true },
      });
    }
  }
}

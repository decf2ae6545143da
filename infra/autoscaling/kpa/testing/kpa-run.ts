import type { Decision, Stat } from '#infra/autoscaling/policy.ts';
import type { KpaConfig } from '#infra/autoscaling/kpa/kpa-config.ts';
import { kpaPolicy, type KpaState } from '#infra/autoscaling/kpa/kpa.ts';

/** A report of the activator, or of a replica that is not behind it. */
export const load = (
  atMs: number,
  averageConcurrency: number,
  from: Stat['from'] = 'activator',
): Stat => ({
  atMs,
  from,
  averageConcurrency,
  averageProxiedConcurrency: 0,
  requestCount: averageConcurrency,
  proxiedRequestCount: 0,
});

/** The policy of one Service, asked at chosen moments. */
export class KpaRun {
  state: KpaState;
  replicas: number;
  readonly #config: KpaConfig;

  constructor(config: KpaConfig, { ready }: { readonly ready: number } = { ready: 0 }) {
    this.#config = config;
    this.state = kpaPolicy.start(config, { nowMs: 0, ready });
    this.replicas = ready;
  }

  decide(nowMs: number, ready: number, stats: readonly Stat[] = []): Decision {
    const observation = { stats, ready, replicas: this.replicas, pods: [], lag: null };
    const step = kpaPolicy.decide(this.#config, this.state, observation, nowMs);
    this.state = step.state;
    this.replicas = step.decision.desired ?? this.replicas;
    return step.decision;
  }

  /**
   * Ticks of two seconds from a moment to another, both included, with one report each second before
   * each of them; the decisions with their moments.
   */
  ticks(
    fromMs: number,
    untilMs: number,
    ready: number,
    inside: number,
  ): readonly (Decision & { readonly atMs: number })[] {
    const decisions = [];
    for (let atMs = fromMs; atMs <= untilMs; atMs += 2_000) {
      const stats = [load(atMs - 1_000, inside, 'replica'), load(atMs, inside, 'replica')];
      decisions.push({ atMs, ...this.decide(atMs, ready, stats) });
    }
    return decisions;
  }
}

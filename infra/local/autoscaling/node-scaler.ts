import type { NodeConfig } from '#infra/autoscaling/node/node-config.ts';
import {
  decideNodes,
  startNodes,
  type NodeDecision,
  type NodeObservation,
  type NodeState,
} from '#infra/autoscaling/node/node-policy.ts';
import type { Clock } from '#kernel/core/clock.ts';

/** What the node-based policy sees and moves. */
export interface NodePool {
  /** Every node, with its utilisation since the last look (1 = all of its CPU share in use). */
  observeNodes(): NodeObservation['nodes'];
  setNodes(count: number): void;
}

export interface NodeScalerOptions {
  readonly config: NodeConfig;
  readonly pool: NodePool;
  readonly clock: Clock;
  readonly originMs: number;
  /** Moves one of its Services. */
  readonly scale: (service: string, replicas: number, decidedMs: number) => void;
  readonly onDecision: (
    observation: NodeObservation,
    decision: NodeDecision,
    atMs: number,
  ) => void;
}

/** The loop around the node-based policy: one decision a period moves all its Services together. */
export class NodeScaler {
  readonly #options: NodeScalerOptions;
  readonly #stopping = new AbortController();
  #last: NodeDecision | undefined;
  #loop: Promise<void> | undefined;

  constructor(options: NodeScalerOptions) {
    this.#options = options;
  }

  get last(): NodeDecision | undefined {
    return this.#last;
  }

  start(): void {
    this.#loop = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('The autoscaler is being stopped'));
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { config, clock, originMs, pool } = this.#options;
    const { signal } = this.#stopping;
    const nowMs = (): number => clock.monotonicMs() - originMs;
    let state: NodeState = startNodes(config, nowMs());
    let tickMs = nowMs();
    while (!signal.aborted) {
      const atMs = nowMs();
      const observation: NodeObservation = { nodes: pool.observeNodes() };
      const step = decideNodes(config, state, observation, atMs);
      state = step.state;
      this.#apply(observation, step.decision, atMs);
      tickMs += config.periodMs;
      const againMs = Math.min(tickMs, step.decision.againAtMs ?? Infinity);
      if (againMs < tickMs) tickMs -= config.periodMs;
      await clock.sleep(Math.max(50, againMs - nowMs()), signal).catch(() => undefined);
    }
  }

  #apply(observation: NodeObservation, decision: NodeDecision, atMs: number): void {
    const { pool, scale, onDecision } = this.#options;
    this.#last = decision;
    onDecision(observation, decision, atMs);
    if (decision.nodes !== null) pool.setNodes(decision.nodes);
    for (const [service, replicas] of Object.entries(decision.replicas ?? {})) {
      scale(service, replicas, atMs);
    }
  }
}

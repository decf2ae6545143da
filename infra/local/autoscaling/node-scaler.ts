import type { NodeConfig } from '#infra/autoscaling/node/node-config.ts';
import {
  decideNodes,
  startNodes,
  type NodeDecision,
  type NodeObservation,
  type NodeState,
} from '#infra/autoscaling/node/node-policy.ts';
import type { DecisionRow } from '#infra/local/cluster-records.ts';
import type { Clock } from '#kernel/core/clock.ts';

/** What the node-based policy sees and moves. */
export interface NodePool {
  /**
   * Every node, with its utilisation (1 = all of its CPU share in use) since the last look that began anew.
   */
  observeNodes(beginsAnew: boolean): NodeObservation['nodes'];
  setNodes(count: number): void;
}

export interface NodeScalerOptions {
  readonly config: NodeConfig;
  readonly pool: NodePool;
  readonly clock: Clock;
  readonly originMs: number;
  /** Moves one of its Services. */
  readonly scale: (service: string, replicas: number, decidedMs: number) => void;
  readonly onRow: (row: DecisionRow) => void;
}

/** Two looks are never closer. */
const MIN_LOOK_MS = 50;

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
    const { config, clock, originMs, onRow } = this.#options;
    onRow({ kind: 'nodePolicy', atMs: clock.monotonicMs() - originMs, config });
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
    while (!signal.aborted) {
      const atMs = nowMs();
      // Looks between two decisions must not cut short the time over which the next one averages.
      const observation: NodeObservation = { nodes: pool.observeNodes(atMs >= state.nextMs) };
      const step = decideNodes(config, state, observation, atMs);
      state = step.state;
      this.#apply(observation, step.decision, atMs);
      const againMs = step.decision.againAtMs ?? state.nextMs;
      // Ends early by the stop alone.
      await clock.sleep(Math.max(MIN_LOOK_MS, againMs - nowMs()), signal).catch(() => undefined);
    }
  }

  #apply(observation: NodeObservation, decision: NodeDecision, atMs: number): void {
    const { pool, scale, onRow } = this.#options;
    this.#last = decision;
    onRow({ kind: 'nodeDecision', atMs, observation, decision });
    if (decision.nodes !== null) pool.setNodes(decision.nodes);
    for (const [service, replicas] of Object.entries(decision.replicas ?? {})) {
      scale(service, replicas, atMs);
    }
  }
}

import type { NodeConfig } from '#infra/autoscaling/node/node-config.ts';
import type { Stat } from '#infra/autoscaling/policy.ts';
import type { EventingStats } from '#eventing/dispatch/start-eventing.ts';
import type { TriggerSpec } from '#eventing/dispatch/trigger-spec.ts';
import type { Clock } from '#kernel/core/clock.ts';
import type { Log } from '#kernel/system/log.ts';
import { Autoscaler, type ScalingStatus } from './autoscaling/autoscaler.ts';
import { CustomEngine } from './autoscaling/custom-engine.ts';
import { LagReader, type Lags } from './autoscaling/lag-reader.ts';
import { NodeScaler } from './autoscaling/node-scaler.ts';
import { engineFor, initialReplicas } from './autoscaling/open-engine.ts';
import type { ClusterRecorder } from './cluster-recorder.ts';
import type { ServicePath } from './data-path/service-path.ts';
import type { ScaledWorkload } from './manifests/pipeline-manifests.ts';
import type { ProcessPool } from './replicas/process-pool.ts';

export interface ClusterScalingOptions {
  /** The repository: where policies of the user's own lie. */
  readonly root: string;
  readonly workloads: readonly ScaledWorkload[];
  readonly nodeScaler: NodeConfig | undefined;
  readonly path: (service: string) => ServicePath;
  readonly pool: ProcessPool;
  readonly triggers: readonly TriggerSpec[];
  readonly stats: () => Promise<EventingStats>;
  readonly clock: Clock;
  readonly originMs: number;
  readonly log: Log;
  readonly recorder: ClusterRecorder | undefined;
}

/** All that moves replicas of one cluster, and what it looks at. */
export class ClusterScaling {
  readonly #options: ClusterScalingOptions;
  readonly #autoscaler: Autoscaler;
  readonly #lags: LagReader;
  readonly #nodes: NodeScaler | undefined;
  readonly #customs: readonly CustomEngine[];

  constructor(options: ClusterScalingOptions) {
    this.#options = options;
    const { root, workloads, nodeScaler, pool, clock, originMs, log, recorder } = options;
    this.#lags = new LagReader(() => this.#readLags(), clock, log);
    const services = workloads.map(({ name, scaling, replicas }) => {
      const engine = engineFor(scaling, root, clock);
      return {
        name,
        path: options.path(name),
        initialReplicas: initialReplicas(scaling, replicas),
        ...(engine === undefined ? {} : { engine }),
      };
    });
    this.#customs = services.flatMap(({ engine }) =>
      engine instanceof CustomEngine ? [engine] : [],
    );
    const lag = (service: string): number | null => this.#lags.lag(service);
    this.#autoscaler = new Autoscaler({
      services,
      pool,
      clock,
      originMs,
      log,
      recorder,
      lag,
    });
    if (nodeScaler === undefined) return;
    this.#nodes = new NodeScaler({
      config: nodeScaler,
      pool,
      clock,
      originMs,
      scale: (service, count, decidedMs) => this.#autoscaler.set(service, count, decidedMs),
      onRow: (row) => recorder?.write('decisions', row),
    });
  }

  /**
   * Loads policies of the user's own (POLICY_FAILED where that does not work), asks for the first
   * replicas, and resolves when they are ready. Rejects with STAGE_START_FAILED where one does not start.
   */
  async start(): Promise<void> {
    const { workloads, pool, clock, originMs } = this.#options;
    for (const engine of this.#customs) await engine.load();
    const decidedMs = clock.monotonicMs() - originMs;
    const first = workloads.filter(({ name, scaling, replicas }) => {
      const count = initialReplicas(scaling, replicas);
      if (count > 0) pool.scale(name, count, { decidedMs, requestedMs: null });
      return count > 0;
    });
    await Promise.all(first.map(({ name }) => pool.untilReady(name)));
    this.#lags.start();
    this.#autoscaler.start();
    this.#nodes?.start();
  }

  /** The first request of a period at a Service's activator. */
  poke(service: string, stat: Stat): void {
    this.#autoscaler.poke(service, stat);
  }

  status(): Readonly<Record<string, ScalingStatus>> {
    return Object.fromEntries(
      this.#options.workloads.flatMap(({ name }) => {
        const status = this.#autoscaler.status(name);
        return status === undefined ? [] : [[name, status] as const];
      }),
    );
  }

  async stop(): Promise<void> {
    await this.#nodes?.stop();
    await this.#autoscaler.stop();
    await this.#lags.stop();
    for (const engine of this.#customs) await engine.close();
  }

  /** num_pending + num_ack_pending of each Trigger's consumer, the largest of a Service's. */
  async #readLags(): Promise<Lags> {
    const { triggers } = await this.#options.stats();
    const lags: Record<string, number> = {};
    for (const { name, subscriber } of this.#options.triggers) {
      const stats = triggers[name];
      const service = subscriber.ref?.name;
      if (stats === undefined || service === undefined) continue;
      lags[service] = Math.max(lags[service] ?? 0, stats.pending + stats.inFlight);
    }
    return lags;
  }
}

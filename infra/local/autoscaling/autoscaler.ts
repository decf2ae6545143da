import type {
  DataPath,
  Decision,
  Observation,
  ReplicaObservation,
  Stat,
} from '#infra/autoscaling/policy.ts';
import type { ClusterRecorder } from '#infra/local/cluster-recorder.ts';
import type { ReplicaUsage } from '#infra/local/cluster-records.ts';
import type { Clock } from '#kernel/core/clock.ts';
import type { Log } from '#kernel/system/log.ts';
import type { PolicyEngine } from './policy-engine.ts';
import { ServiceScaler } from './service-scaler.ts';

/** What of a Service's data path the autoscaler uses. */
export interface MeteredPath {
  takeStats(nowMs: number): readonly Stat[];
  figures(): PathFigures;
  setPath(path: DataPath): void;
}

export interface PathFigures {
  /** Requests that arrived since the figures were taken last. */
  readonly offered: number;
  /** Average number of requests inside since then. */
  readonly averageConcurrency: number;
  readonly queued: number;
}

/** What of the process pool the autoscaler uses. */
export interface ScaledPool {
  scale(
    service: string,
    replicas: number,
    why: { readonly decidedMs: number; readonly requestedMs: number | null },
  ): void;
  observe(service: string): readonly ReplicaObservation[];
  usage(service: string): readonly ReplicaUsage[];
}

export interface AutoscaledService {
  readonly name: string;
  /** Absent: somebody else moves it (the node-based policy moves all its Services together). */
  readonly engine?: PolicyEngine;
  readonly path: MeteredPath;
  /** Replicas asked for at the start. */
  readonly initialReplicas: number;
}

export interface AutoscalerOptions {
  readonly services: readonly AutoscaledService[];
  readonly pool: ScaledPool;
  readonly clock: Clock;
  readonly originMs: number;
  readonly log: Log;
  readonly recorder: Pick<ClusterRecorder, 'write'> | undefined;
  /** Unfinished events of a Service's Triggers; null: not known, or no Trigger. */
  readonly lag: (service: string) => number | null;
}

/** How a Service is scaled at this moment. */
export interface ScalingStatus {
  readonly policy: string;
  readonly desired: number;
  readonly ready: number;
  readonly starting: number;
  readonly draining: number;
  readonly offeredPerS: number;
  readonly concurrency: number;
  readonly queued: number;
  readonly backlog: number | null;
  readonly panicking: boolean;
  readonly path: DataPath;
  /** The last decision in words. */
  readonly reason: string;
}

/** Knative's proxies report once a second. */
const SAMPLE_MS = 1_000;

/** Everything that moves replicas: one policy for each Service, fed once a second, written down. */
export class Autoscaler {
  readonly #options: AutoscalerOptions;
  readonly #services: ReadonlyMap<string, Scaled>;
  readonly #stopping = new AbortController();
  #loop: Promise<void> | undefined;

  constructor(options: AutoscalerOptions) {
    this.#options = options;
    this.#services = new Map(
      options.services.map((service) => [service.name, new Scaled(service, options)]),
    );
  }

  start(): void {
    for (const service of this.#services.values()) service.start();
    this.#loop = this.#sample();
  }

  /** The first request of a period has arrived; its statistic does not wait for the second's end. */
  poke(service: string, stat: Stat): void {
    this.#services.get(service)?.poke(stat);
  }

  /** Asks for replicas on behalf of a policy that moves several Services together. */
  set(service: string, replicas: number, decidedMs: number): void {
    this.#services.get(service)?.set(replicas, decidedMs);
  }

  status(service: string): ScalingStatus | undefined {
    return this.#services.get(service)?.status();
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('The autoscaler is being stopped'));
    await this.#loop;
    await Promise.all([...this.#services.values()].map((service) => service.stop()));
  }

  async #sample(): Promise<void> {
    const { clock, originMs } = this.#options;
    const { signal } = this.#stopping;
    let dueMs = clock.monotonicMs() - originMs;
    for (;;) {
      dueMs += SAMPLE_MS;
      const nowMs = clock.monotonicMs() - originMs;
      // A process that was stopped for a while does not make up for the seconds it missed.
      if (nowMs > dueMs + SAMPLE_MS) dueMs = nowMs;
      await clock.sleep(dueMs - nowMs, signal).catch(() => undefined);
      if (signal.aborted) return;
      for (const service of this.#services.values()) service.sample();
    }
  }
}

class Scaled {
  readonly #service: AutoscaledService;
  readonly #options: AutoscalerOptions;
  readonly #scaler: ServiceScaler | undefined;
  #desired: number;
  #path: DataPath = 'proxy';
  /** When the request came for which a start from zero was asked. */
  #requestedMs: number | null = null;
  #figures: PathFigures = { offered: 0, averageConcurrency: 0, queued: 0 };

  constructor(service: AutoscaledService, options: AutoscalerOptions) {
    this.#service = service;
    this.#options = options;
    this.#desired = service.initialReplicas;
    const { engine, name } = service;
    const { clock, originMs, log, recorder } = options;
    if (engine === undefined) return;
    this.#scaler = new ServiceScaler({
      service: {
        name,
        observe: () => this.#observe(),
        apply: (decision, decidedMs) => this.#apply(decision, decidedMs),
      },
      engine,
      clock,
      originMs,
      log,
      onRow: (row) => recorder?.write('decisions', row),
    });
  }

  start(): void {
    this.#scaler?.start(this.#observe().ready);
  }

  poke(stat: Stat): void {
    this.#scaler?.note([stat]);
    if (this.#desired === 0) this.#requestedMs ??= stat.atMs;
    this.#scaler?.poke();
  }

  set(replicas: number, decidedMs: number): void {
    const requestedMs = this.#requestedMs;
    this.#requestedMs = null;
    this.#desired = replicas;
    this.#options.pool.scale(this.#service.name, replicas, { decidedMs, requestedMs });
  }

  async stop(): Promise<void> {
    await this.#scaler?.stop();
  }

  sample(): void {
    const { clock, originMs, recorder } = this.#options;
    const { name, path } = this.#service;
    const atMs = clock.monotonicMs() - originMs;
    this.#scaler?.note(path.takeStats(atMs));
    this.#figures = path.figures();
    const status = this.status();
    recorder?.write('samples', {
      atMs,
      service: name,
      offeredPerS: status.offeredPerS,
      concurrency: status.concurrency,
      queued: status.queued,
      desired: status.desired,
      ready: status.ready,
      starting: status.starting,
      draining: status.draining,
      panicking: status.panicking,
      path: status.path,
      backlog: status.backlog,
      replicas: this.#options.pool.usage(name),
    });
  }

  status(): ScalingStatus {
    const pods = this.#options.pool.observe(this.#service.name);
    const ready = pods.filter((pod) => pod.ready && !pod.draining).length;
    const draining = pods.filter((pod) => pod.draining).length;
    return {
      policy: this.#service.engine?.name ?? 'node',
      desired: this.#desired,
      ready,
      starting: pods.length - ready - draining,
      draining,
      offeredPerS: this.#figures.offered,
      concurrency: this.#figures.averageConcurrency,
      queued: this.#figures.queued,
      backlog: this.#options.lag(this.#service.name),
      panicking: this.#scaler?.last?.panicking ?? false,
      path: this.#path,
      reason: this.#scaler?.last?.reason ?? '',
    };
  }

  #observe(): Omit<Observation, 'stats'> {
    const pods = this.#options.pool.observe(this.#service.name);
    return {
      ready: pods.filter((pod) => pod.ready && !pod.draining).length,
      replicas: this.#desired,
      pods,
      lag: this.#options.lag(this.#service.name),
    };
  }

  #apply(decision: Decision, decidedMs: number): void {
    // Policies that know no activator leave it to the path, which holds requests while nothing is ready.
    this.#path = decision.path ?? 'serve';
    this.#service.path.setPath(this.#path);
    if (decision.desired !== null) this.set(decision.desired, decidedMs);
  }
}

import type { Clock } from '#kernel/core/clock.ts';
import { TachographError } from '#kernel/core/errors.ts';
import type { Log } from '#kernel/system/log.ts';
import { Replica, type ChildHandle, type ReplicaStatus } from './replica.ts';
import { RESTART_POLICY, type RestartPolicy } from './restart-policy.ts';

/** One Service to be kept running. */
export interface PoolService {
  readonly name: string;
  readonly replicas: number;
  readonly start: (replica: string) => ChildHandle;
  readonly logPath: string;
}

export interface PoolOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly policy?: RestartPolicy;
  readonly readyWithinMs: number;
  readonly drainMs: number;
  /** A replica listens on `port`, or (undefined) does not any more. */
  readonly onReplica: (service: string, replica: string, port: number | undefined) => void;
}

export interface ServiceStatus {
  readonly name: string;
  readonly replicas: readonly ReplicaStatus[];
}

/** The processes of all Services: each kept alive from `add` until its Service is stopped. */
export class ProcessPool {
  readonly #options: PoolOptions;
  readonly #services = new Map<string, { service: PoolService; replicas: Replica[] }>();

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /**
   * Starts a Service's replicas and resolves when all are ready.
   *
   * Rejects with STAGE_START_FAILED when one ends before it ever was ready, or is not ready in time: at
   * the first start that is a fault of the set-up, and waiting would not mend it. The replicas stay
   * under the pool's care until `stop`.
   */
  async add(service: PoolService): Promise<void> {
    const { clock, log, readyWithinMs, drainMs, onReplica, policy } = this.#options;
    const replicas: Replica[] = [];
    this.#services.set(service.name, { service, replicas });
    const started = Array.from({ length: service.replicas }, (_, index) => {
      const name = `${service.name}-${index}`;
      const { promise, resolve } = Promise.withResolvers<string | undefined>();
      const onChange = (replica: Replica): void => {
        const { phase, lastEnd, port } = replica.status;
        onReplica(service.name, name, port);
        if (phase === 'ready') resolve(undefined);
        if (phase === 'backoff') resolve(lastEnd ?? 'it ended');
        if (phase === 'draining' || phase === 'gone') resolve('it was stopped');
      };
      const start = (): ChildHandle => service.start(name);
      replicas.push(
        new Replica({
          name,
          start,
          clock,
          log,
          policy: policy ?? RESTART_POLICY,
          readyWithinMs,
          drainMs,
          onChange,
        }),
      );
      return promise;
    });
    for (const detail of await Promise.all(started)) {
      if (detail === undefined) continue;
      const fields = { service: service.name, detail, log: service.logPath };
      throw new TachographError('STAGE_START_FAILED', fields);
    }
  }

  /** Drains the named Services side by side; resolves when their processes are gone. */
  async stop(names: readonly string[]): Promise<void> {
    const replicas = names.flatMap((name) => this.#services.get(name)?.replicas ?? []);
    await Promise.all(replicas.map((replica) => replica.stop()));
  }

  async stopAll(): Promise<void> {
    await this.stop([...this.#services.keys()]);
  }

  status(): ServiceStatus[] {
    return [...this.#services].map(([name, { replicas }]) => ({
      name,
      replicas: replicas.map((replica) => replica.status),
    }));
  }
}

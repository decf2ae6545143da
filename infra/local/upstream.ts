import { Pool } from 'undici';
import { Breaker } from '#infra/routing/breaker.ts';

/** Knative's queue-proxy holds ten times the concurrency; a small Service still gets this many. */
const MIN_QUEUED = 100;
const QUEUED_PER_SLOT = 10;
/** A Service without a limit of its own. */
const UNLIMITED_CONCURRENCY = 1_000;

interface Target {
  readonly name: string;
  readonly pool: Pool;
  inFlight: number;
}

/** A slot at one replica, to be given back. */
export interface Slot {
  readonly pool: Pool;
  release(): void;
  /** It takes no connections: no request goes there until it is reported ready again. */
  dropReplica(): void;
}

/**
 * One Service as the gateway sees it: the replicas that are ready, and one bounded queue before them.
 *
 * The capacity is replicas × concurrency, so a replica with a free slot exists whenever the queue
 * admits; the one with the least at work takes the request.
 */
export class Upstream {
  readonly name: string;
  readonly timeoutMs: number;
  readonly #concurrency: number;
  readonly #breaker: Breaker;
  readonly #targets = new Map<string, Target>();

  constructor(name: string, containerConcurrency: number, timeoutMs: number) {
    this.name = name;
    this.timeoutMs = timeoutMs;
    this.#concurrency = containerConcurrency === 0 ? UNLIMITED_CONCURRENCY : containerConcurrency;
    this.#breaker = new Breaker(0, Math.max(MIN_QUEUED, this.#concurrency * QUEUED_PER_SLOT));
  }

  get ready(): number {
    return this.#targets.size;
  }

  get inFlight(): number {
    return this.#breaker.inFlight;
  }

  get queued(): number {
    return this.#breaker.queued;
  }

  /** A replica listens on `port`, or (undefined) does not any more. */
  setReplica(replica: string, port: number | undefined): void {
    const before = this.#targets.get(replica);
    if (before !== undefined) {
      this.#targets.delete(replica);
      // Closing lets what is in flight finish; its process decides how long that takes.
      void before.pool.close().catch(() => before.pool.destroy());
    }
    if (port !== undefined) {
      const pool = new Pool(`http://127.0.0.1:${port}`, {
        connections: this.#concurrency,
        pipelining: 1,
        headersTimeout: this.timeoutMs,
        bodyTimeout: this.timeoutMs,
        connectTimeout: 2_000,
      });
      this.#targets.set(replica, { name: replica, pool, inFlight: 0 });
    }
    this.#breaker.setCapacity(this.#targets.size * this.#concurrency);
  }

  /** A slot at a ready replica where there is one and nobody waits. */
  tryAcquire(): Slot | undefined {
    return this.#breaker.tryAcquire() ? this.#take() : undefined;
  }

  /** A slot at a ready replica; waits in the queue until `signal` aborts. */
  async acquire(signal: AbortSignal): Promise<Slot | 'overloaded' | 'aborted'> {
    if (signal.aborted) return 'aborted';
    const { promise, resolve } = Promise.withResolvers<Slot | 'aborted'>();
    const admit = (): void => resolve(this.#take());
    const answer = this.#breaker.offer(admit);
    if (answer === 'admitted') return this.#take();
    if (answer === 'refused') return 'overloaded';
    const leave = (): void => {
      if (this.#breaker.cancel(admit)) resolve('aborted');
    };
    signal.addEventListener('abort', leave, { once: true });
    const slot = await promise;
    signal.removeEventListener('abort', leave);
    return slot;
  }

  #take(): Slot {
    let best: Target | undefined;
    for (const target of this.#targets.values()) {
      if (best === undefined || target.inFlight < best.inFlight) best = target;
    }
    if (best === undefined) throw new Error(`Admitted a request to ${this.name} without a replica`);
    const target = best;
    target.inFlight += 1;
    let given = true;
    return {
      pool: target.pool,
      release: () => {
        if (!given) return;
        given = false;
        target.inFlight -= 1;
        this.#breaker.release();
      },
      dropReplica: () => {
        // By now another process may be ready under the same name.
        if (this.#targets.get(target.name) === target) this.setReplica(target.name, undefined);
      },
    };
  }

  async close(): Promise<void> {
    const pools = [...this.#targets.values()].map((target) => target.pool);
    this.#targets.clear();
    this.#breaker.setCapacity(0);
    await Promise.all(pools.map((pool) => pool.destroy()));
  }
}

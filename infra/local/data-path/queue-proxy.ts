import { Pool } from 'undici';
import { Breaker } from '#infra/routing/breaker.ts';
import { ConcurrencyMeter } from '#infra/routing/concurrency-meter.ts';
import type { LbTarget } from '#infra/routing/lb-policy.ts';
import type { Exchange } from './exchange.ts';
import type { ReplicaAddress } from './replica-address.ts';

/** Knative's queue-proxy holds ten times the container concurrency beside what is at work. */
const QUEUED_PER_SLOT = 10;
/**
 * A listening socket takes 511 connections that its process has not accepted yet (Node's own number); a
 * unix socket refuses the next one at once. Requests beyond wait for a connection.
 */
const MAX_CONNECTIONS = 256;
const CONNECT_TIMEOUT_MS = 2_000;
/** Below the 5 s after which Node's servers close an idle connection, so that ours goes first. */
const KEEP_ALIVE_MS = 4_000;

/**
 * Knative's queue-proxy of one replica: container concurrency, a bounded queue before it, and the meter
 * that the autoscaler reads. Concurrency 0 has neither limit nor queue.
 */
export class QueueProxy implements LbTarget {
  readonly replica: string;
  readonly address: ReplicaAddress;
  readonly pool: Pool;
  /** Requests that it may have by the activator at once. */
  readonly capacity: number;
  /** Requests that it has by the activator. */
  inFlight = 0;
  /** It takes no new request. */
  draining = false;
  /** It has answered since it became ready. */
  answered = false;
  readonly meter: ConcurrencyMeter;
  /** Waiting and at work. */
  readonly exchanges = new Set<Exchange>();
  readonly #breaker: Breaker | undefined;
  readonly #idle: (() => void)[] = [];

  /** `containerConcurrency` 0: no limit. */
  constructor(
    replica: string,
    address: ReplicaAddress,
    containerConcurrency: number,
    nowMs: number,
  ) {
    this.replica = replica;
    this.address = address;
    this.capacity = containerConcurrency === 0 ? Infinity : containerConcurrency;
    this.meter = new ConcurrencyMeter(nowMs);
    if (containerConcurrency > 0) {
      this.#breaker = new Breaker({
        queueDepth: containerConcurrency * QUEUED_PER_SLOT,
        maxConcurrency: containerConcurrency,
        capacity: containerConcurrency,
      });
    }
    this.pool = openPool(address, Math.min(this.capacity, MAX_CONNECTIONS));
  }

  get queued(): number {
    return this.#breaker?.queued ?? 0;
  }

  get atWork(): number {
    return this.exchanges.size - this.queued;
  }

  /** As Breaker.offer. Unless it was refused, `leave` must follow. */
  enter(exchange: Exchange, nowMs: number): 'admitted' | 'queued' | 'refused' {
    const answer = this.#breaker?.offer(exchange.admit) ?? 'admitted';
    // Upstream counts a refused request too, for no time.
    this.meter.enter(nowMs, exchange.proxied);
    if (answer === 'refused') this.meter.leave(nowMs, exchange.proxied);
    else this.exchanges.add(exchange);
    return answer;
  }

  /** The exchange is over, or goes elsewhere. */
  leave(exchange: Exchange, nowMs: number): void {
    if (!this.exchanges.delete(exchange)) return;
    this.meter.leave(nowMs, exchange.proxied);
    if (this.#breaker?.cancel(exchange.admit) === false) this.#breaker.release();
    if (this.exchanges.size === 0) this.#tellIdle();
  }

  /** Resolves when it has no request, at once if it has none. */
  whenIdle(): Promise<void> {
    if (this.exchanges.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  /** Lets what is at work finish; its process decides how long that takes. */
  async close(): Promise<void> {
    this.#tellIdle();
    await this.pool.close().catch(() => this.pool.destroy());
  }

  async destroy(): Promise<void> {
    this.#tellIdle();
    await this.pool.destroy();
  }

  #tellIdle(): void {
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}

function openPool(address: ReplicaAddress, connections: number): Pool {
  const connect = { timeout: CONNECT_TIMEOUT_MS };
  const options = {
    connections,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // The path's own deadlines bound waiting, answer and body together.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  if ('port' in address) {
    return new Pool(`http://127.0.0.1:${address.port}`, { ...options, connect });
  }
  const { socketPath } = address;
  return new Pool('http://localhost', { ...options, connect: { ...connect, socketPath } });
}

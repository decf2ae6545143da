import { ActivatorMeter } from '#infra/routing/activator-meter.ts';
import { Breaker } from '#infra/routing/breaker.ts';
import type { ConcurrencyReport } from '#infra/routing/concurrency-meter.ts';
import { lbPolicyFor, type LbPolicy } from '#infra/routing/lb-policy.ts';
import type { Random } from '#kernel/core/random.ts';
import type { Exchange } from './exchange.ts';
import type { QueueProxy } from './queue-proxy.ts';

/**
 * Knative's activator for one Service: one queue in order of arrival before all its replicas. It gives
 * each of them no more requests than its container concurrency, so that what waits, waits here.
 *
 * Its capacity is container concurrency × replicas, as upstream. A replica that drains is taken off at
 * once, while its requests still count until they end: with two replicas of concurrency 1, both at work,
 * one of which drains, the next request waits for the second of the two to end.
 *
 * Source: knative/serving pkg/activator/net/throttler.go. There the queue has no bound that matters
 * (2³¹); here it has one.
 */
export class Activator {
  readonly #concurrency: number;
  readonly #maxWaiting: number;
  readonly #breaker = new Breaker({ queueDepth: 1, maxConcurrency: Infinity, capacity: 0 });
  readonly #pick: LbPolicy;
  readonly #meter = new ActivatorMeter();
  #targets: readonly QueueProxy[] = [];

  constructor(containerConcurrency: number, maxWaiting: number, random: Random) {
    this.#concurrency = containerConcurrency === 0 ? Infinity : containerConcurrency;
    this.#maxWaiting = maxWaiting;
    this.#pick = lbPolicyFor(containerConcurrency, random);
  }

  get queued(): number {
    return this.#breaker.queued;
  }

  /** Replicas that take new requests, oldest first. */
  setTargets(targets: readonly QueueProxy[]): void {
    this.#targets = targets;
    this.#breaker.setCapacity(targets.length === 0 ? 0 : targets.length * this.#concurrency);
  }

  /** Counts a request from its arrival on; gives what is to be said of it at once, if anything is. */
  arrive(nowMs: number): ConcurrencyReport | undefined {
    return this.#meter.enter(nowMs);
  }

  /** The end of what `arrive` began. */
  depart(nowMs: number): void {
    this.#meter.leave(nowMs);
  }

  /** As Breaker.offer. When it is admitted, at once or later, `take` gives its replica. */
  offer(exchange: Exchange): 'admitted' | 'queued' | 'refused' {
    if (this.#breaker.tryAcquire()) return 'admitted';
    if (this.#breaker.queued >= this.#maxWaiting) return 'refused';
    return this.#breaker.offer(exchange.admit);
  }

  /** Takes one that waits out of the queue. */
  cancel(exchange: Exchange): void {
    this.#breaker.cancel(exchange.admit);
  }

  /** A place at a replica for a request that was admitted; `release` must follow. */
  take(): QueueProxy {
    const target = this.#pick(this.#targets);
    // Places at replicas that are left are never fewer than what the breaker admits.
    if (target === undefined) throw new Error('The activator admitted a request without a place');
    target.inFlight += 1;
    return target;
  }

  release(target: QueueProxy): void {
    target.inFlight -= 1;
    this.#breaker.release();
  }

  report(nowMs: number): ConcurrencyReport | undefined {
    return this.#meter.report(nowMs);
  }
}

/** Called once, when the waiting request has its slot. */
export type Admit = () => void;

export interface BreakerParams {
  /** Requests that may wait beyond `maxConcurrency`. */
  readonly queueDepth: number;
  /** The largest capacity; Infinity: none. */
  readonly maxConcurrency: number;
  /** Slots at the start. */
  readonly capacity: number;
}

/**
 * Knative's breaker: at most `capacity` requests at work, at most `queueDepth + maxConcurrency` inside
 * (at work or waiting), the rest refused. Depth 10 and concurrency 1, as in a queue-proxy with container
 * concurrency 1: the 12th request at once is refused.
 *
 * A capacity of 0 holds everything back: that is how requests wait for a replica to become ready in the
 * activator. It has no clock: who waits too long is taken out with `cancel`.
 *
 * Source: knative/serving pkg/queue/breaker.go. There a free slot goes to whichever waiting request the
 * runtime wakes; here it is the one that has waited longest, and nobody overtakes.
 */
export class Breaker {
  readonly #totalSlots: number;
  readonly #maxConcurrency: number;
  #capacity: number;
  #atWork = 0;
  readonly #waiting = new Set<Admit>();

  /** Throws a RangeError for a depth below 1 and a capacity outside 0…maxConcurrency. */
  constructor({ queueDepth, maxConcurrency, capacity }: BreakerParams) {
    if (!(queueDepth > 0)) throw new RangeError(`The queue depth ${queueDepth} must be above 0`);
    if (!(maxConcurrency >= 0)) {
      throw new RangeError(`The concurrency ${maxConcurrency} must not be negative`);
    }
    this.#totalSlots = queueDepth + maxConcurrency;
    this.#maxConcurrency = maxConcurrency;
    this.#capacity = this.#checked(capacity);
  }

  get capacity(): number {
    return this.#capacity;
  }

  /** At work. */
  get atWork(): number {
    return this.#atWork;
  }

  /** Waiting. */
  get queued(): number {
    return this.#waiting.size;
  }

  /** Takes a slot where one is free and nobody waits for it. */
  tryAcquire(): boolean {
    if (this.#atWork >= this.#capacity || this.#waiting.size > 0) return false;
    this.#atWork += 1;
    return true;
  }

  /** `admitted` at once (admit is not called), `queued` (it will be), or `refused`. */
  offer(admit: Admit): 'admitted' | 'queued' | 'refused' {
    if (this.tryAcquire()) return 'admitted';
    if (this.#atWork + this.#waiting.size >= this.#totalSlots) return 'refused';
    this.#waiting.add(admit);
    return 'queued';
  }

  /** Takes a waiting request out; false when it is not waiting (any more). */
  cancel(admit: Admit): boolean {
    return this.#waiting.delete(admit);
  }

  /** Gives a slot back. */
  release(): void {
    if (this.#atWork === 0) throw new Error('A slot was given back that nobody had');
    this.#atWork -= 1;
    this.#admitWaiting();
  }

  /** More capacity admits who waits; less lets those at work finish. */
  setCapacity(capacity: number): void {
    this.#capacity = this.#checked(capacity);
    this.#admitWaiting();
  }

  #checked(capacity: number): number {
    if (capacity >= 0 && capacity <= this.#maxConcurrency) return capacity;
    throw new RangeError(`The capacity ${capacity} is not within 0…${this.#maxConcurrency}`);
  }

  #admitWaiting(): void {
    for (const admit of this.#waiting) {
      if (this.#atWork >= this.#capacity) return;
      this.#waiting.delete(admit);
      this.#atWork += 1;
      admit();
    }
  }
}

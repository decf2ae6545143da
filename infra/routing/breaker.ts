/** Called once, when the waiting request has its slot. */
export type Admit = () => void;

/**
 * Container concurrency with a bounded queue: at most `capacity` requests at work, at most `maxQueued`
 * waiting in order of arrival, the rest refused.
 *
 * A capacity of 0 holds everything back: that is how requests wait for a replica to become ready, as
 * in Knative's activator. It has no clock: who waits too long is taken out with `cancel`.
 */
export class Breaker {
  readonly #maxQueued: number;
  #capacity: number;
  #inFlight = 0;
  readonly #waiting = new Set<Admit>();

  constructor(capacity: number, maxQueued: number) {
    this.#capacity = capacity;
    this.#maxQueued = maxQueued;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get queued(): number {
    return this.#waiting.size;
  }

  /** Takes a slot where one is free and nobody waits for it. */
  tryAcquire(): boolean {
    if (this.#inFlight >= this.#capacity || this.#waiting.size > 0) return false;
    this.#inFlight += 1;
    return true;
  }

  /** `admitted` at once (admit is not called), `queued` (it will be), or `refused`. */
  offer(admit: Admit): 'admitted' | 'queued' | 'refused' {
    if (this.tryAcquire()) return 'admitted';
    if (this.#waiting.size >= this.#maxQueued) return 'refused';
    this.#waiting.add(admit);
    return 'queued';
  }

  /** Takes a waiting request out; false when it is not waiting (any more). */
  cancel(admit: Admit): boolean {
    return this.#waiting.delete(admit);
  }

  /** Gives a slot back. */
  release(): void {
    this.#inFlight -= 1;
    this.#admitWaiting();
  }

  /** More capacity admits who waits; less lets those at work finish. */
  setCapacity(capacity: number): void {
    this.#capacity = capacity;
    this.#admitWaiting();
  }

  #admitWaiting(): void {
    for (const admit of this.#waiting) {
      if (this.#inFlight >= this.#capacity) return;
      this.#waiting.delete(admit);
      this.#inFlight += 1;
      admit();
    }
  }
}

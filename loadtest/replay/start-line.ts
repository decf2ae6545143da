/**
 * Lets vehicles start together: the slow check-in of one must not make its first batches late, and
 * its lateness must not count as the pipeline's.
 */
export class StartLine {
  readonly #runners: number;
  readonly #nowMs: () => number;
  readonly #start = Promise.withResolvers<number>();
  #here = 0;

  constructor(runners: number, nowMs: () => number) {
    this.#runners = runners;
    this.#nowMs = nowMs;
  }

  /** A vehicle is ready; resolves to the common start when all others are here or out. */
  arrive(): Promise<number> {
    this.#count();
    return this.#start.promise;
  }

  /** A vehicle will not come (it failed before). */
  withdraw(): void {
    this.#count();
  }

  #count(): void {
    this.#here += 1;
    if (this.#here === this.#runners) this.#start.resolve(this.#nowMs());
  }
}

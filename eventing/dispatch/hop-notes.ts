/** What a request waited for on its way to a process. */
export type HopWaitFor = 'activator' | 'queue';

export interface HopWait {
  readonly waitFor: HopWaitFor;
  /** Monotonic ms. */
  readonly fromMs: number;
  readonly untilMs: number;
}

/**
 * Where a traced request was, and when, on its way to the process that serves it. Whoever passes it on
 * notes it here; a request that takes another way after a refused connection waits again.
 */
export class HopNotes {
  readonly waits: HopWait[] = [];
  /** When it was given to the way there: up to then it was with whoever sends it. */
  enteredMs: number | undefined;
  /** No replica was ready when it arrived. */
  cold = false;
  /** Who has it, or had it last. */
  replica: string | undefined;
  readonly #toEpochMs: (monotonicMs: number) => number;
  #waitFor: HopWaitFor | undefined;
  #fromMs = 0;

  /** `toEpochMs`: monotonic ms → the epoch ms that this process's spans have. */
  constructor(toEpochMs: (monotonicMs: number) => number) {
    this.#toEpochMs = toEpochMs;
  }

  /** A wait begins, and the one under way ends; those without length are not kept. */
  wait(waitFor: HopWaitFor, atMs: number): void {
    if (this.#waitFor === waitFor) return;
    this.enteredMs ??= atMs;
    this.#end(atMs);
    this.#waitFor = waitFor;
    this.#fromMs = atMs;
  }

  /** It goes to the process at this moment. Returns the moment as epoch ms, for the process to know. */
  sent(atMs: number, replica?: string): number {
    this.enteredMs ??= atMs;
    this.#end(atMs);
    this.replica = replica;
    return this.#toEpochMs(atMs);
  }

  /** It has an end, wherever it was. */
  over(atMs: number): void {
    this.#end(atMs);
  }

  #end(atMs: number): void {
    if (this.#waitFor !== undefined && atMs > this.#fromMs) {
      this.waits.push({ waitFor: this.#waitFor, fromMs: this.#fromMs, untilMs: atMs });
    }
    this.#waitFor = undefined;
  }
}

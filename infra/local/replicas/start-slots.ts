/**
 * At most so many starts at once, in the order in which they asked.
 *
 * A cold start is bound by CPU: n at once on fewer cores take n × CPU time ÷ cores, all of them ready
 * late. One after the other the first is ready as early as alone, and the last is not later.
 */
export class StartSlots {
  readonly #size: number;
  #taken = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(size: number) {
    if (!Number.isInteger(size) || size < 1) throw new Error(`${size} start slots`);
    this.#size = size;
  }

  get taken(): number {
    return this.#taken;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * Resolves with what gives the slot back, which may be called more than once. Rejects with the
   * signal's reason when it is aborted meanwhile.
   */
  async acquire(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#taken < this.#size) this.#taken += 1;
    // The slot is handed over: it stays taken in between.
    else await this.#turn(signal);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      const next = this.#waiting.shift();
      if (next === undefined) this.#taken -= 1;
      else next();
    };
  }

  #turn(signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = (): void => {
      this.#waiting.splice(this.#waiting.indexOf(enter), 1);
      reject(signal.reason as Error);
    };
    const enter = (): void => {
      signal.removeEventListener('abort', leave);
      resolve();
    };
    signal.addEventListener('abort', leave, { once: true });
    this.#waiting.push(enter);
    return promise;
  }
}

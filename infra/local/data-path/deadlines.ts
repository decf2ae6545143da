import type { Clock } from '#kernel/core/clock.ts';

/**
 * One limit for many things that begin one after another: whoever has not ended `limitMs` after its
 * beginning is told. Since the limit is the same for all, the first to begin is the first to be late,
 * and one sleep serves them all: a timer for each costs more than the rest of a small request's way.
 *
 * Of those that are late at the same moment the last to begin is told first: it still waits where the
 * first is at work, and must not be sent just because the first gives its place back.
 */
export class Deadlines<T> {
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #onLate: (item: T) => void;
  readonly #closing = new AbortController();
  /** When each is late; in the order of beginning. */
  readonly #dueMs = new Map<T, number>();
  #watching = false;

  constructor(clock: Clock, limitMs: number, onLate: (item: T) => void) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#onLate = onLate;
  }

  get size(): number {
    return this.#dueMs.size;
  }

  items(): IterableIterator<T> {
    return this.#dueMs.keys();
  }

  begin(item: T): void {
    this.#dueMs.set(item, this.#clock.monotonicMs() + this.#limitMs);
    if (!this.#watching) void this.#watch();
  }

  end(item: T): void {
    this.#dueMs.delete(item);
  }

  /** Nobody is told any more. */
  close(): void {
    this.#closing.abort(new Error('The deadlines are closed'));
    this.#dueMs.clear();
  }

  async #watch(): Promise<void> {
    this.#watching = true;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const [dueMs] = this.#dueMs.values();
      if (dueMs === undefined) break;
      const restMs = dueMs - this.#clock.monotonicMs();
      if (restMs > 0) await this.#clock.sleep(restMs, signal).catch(() => undefined);
      else this.#tellLate();
    }
    this.#watching = false;
  }

  #tellLate(): void {
    const nowMs = this.#clock.monotonicMs();
    const late: T[] = [];
    for (const [item, dueMs] of this.#dueMs) {
      if (dueMs > nowMs) break;
      late.push(item);
    }
    for (const item of late.toReversed()) {
      if (this.#dueMs.delete(item)) this.#onLate(item);
    }
  }
}

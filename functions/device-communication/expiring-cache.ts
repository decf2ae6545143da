import { must } from '#kernel/core/assert.ts';
import type { Clock } from '#kernel/core/clock.ts';

interface Entry<T> {
  readonly value: Promise<T>;
  readonly untilMs: number;
}

/**
 * Remembers what was loaded for a time, at most `maxEntries` of it; the oldest entry goes first.
 * Callers that ask at once share one load. What fails to load is not remembered.
 */
export class ExpiringCache<T> {
  readonly #entries = new Map<string, Entry<T>>();
  readonly #clock: Clock;
  readonly #ttlMs: number;
  readonly #maxEntries: number;

  constructor(clock: Clock, ttlMs: number, maxEntries: number) {
    this.#clock = clock;
    this.#ttlMs = ttlMs;
    this.#maxEntries = maxEntries;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string, load: () => Promise<T>): Promise<T> {
    const nowMs = this.#clock.monotonicMs();
    const found = this.#entries.get(key);
    if (found !== undefined && nowMs < found.untilMs) return found.value;
    this.#entries.delete(key);
    if (this.#entries.size >= this.#maxEntries) {
      this.#entries.delete(must(this.#entries.keys().next().value, 'oldest key of a full cache'));
    }
    const entry = { value: load(), untilMs: nowMs + this.#ttlMs };
    this.#entries.set(key, entry);
    entry.value.catch(() => {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
    });
    return entry.value;
  }

  /** So that what was just learnt is not held against the next caller. */
  forget(key: string): void {
    this.#entries.delete(key);
  }
}

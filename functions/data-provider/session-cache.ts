import { OneAtATime } from '#kernel/core/one-at-a-time.ts';
import type { SessionState } from './session-state.ts';

/** Receipts kept over all sessions: at about 0.5 KB each, 100 MB. */
export const MAX_CACHED_RECEIPTS = 200_000;

/**
 * What this replica remembers of sessions, so that an event costs the receipts since the last one and
 * not the whole session. Least recently used sessions are forgotten first; losing one costs a reading.
 *
 * Work on one session is done one at a time: `withSession` queues behind whoever is at it.
 */
export class SessionCache {
  readonly #states = new Map<string, SessionState>();
  readonly #work = new OneAtATime();
  readonly #maxReceipts: number;

  constructor(maxReceipts = MAX_CACHED_RECEIPTS) {
    this.#maxReceipts = maxReceipts;
  }

  get size(): number {
    return this.#states.size;
  }

  get(key: string): SessionState | undefined {
    const state = this.#states.get(key);
    if (state !== undefined) {
      this.#states.delete(key);
      this.#states.set(key, state);
    }
    return state;
  }

  /** Remembers a session and forgets the least recently used ones beyond the bound, never this one. */
  set(key: string, state: SessionState): void {
    this.#states.delete(key);
    this.#states.set(key, state);
    let receipts = 0;
    for (const other of this.#states.values()) receipts += other.receipts.size;
    for (const [oldest, other] of this.#states) {
      if (receipts <= this.#maxReceipts || oldest === key) return;
      receipts -= other.receipts.size;
      this.#states.delete(oldest);
    }
  }

  forget(key: string): void {
    this.#states.delete(key);
  }

  /** Runs `work` when all earlier work on the same session has ended, well or not. */
  withSession<T>(key: string, work: () => Promise<T>): Promise<T> {
    return this.#work.run(key, work);
  }
}

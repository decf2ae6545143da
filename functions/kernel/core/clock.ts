/** Time as the program sees it. Passed in everywhere, so that tests run in virtual time. */
export interface Clock {
  /** Wall time, ms since 1970-01-01 UTC. */
  nowMs(): number;
  /** Monotonic time, ms with a fraction; the origin is arbitrary. */
  monotonicMs(): number;
  /** Resolves after `ms` (at once for ms <= 0); rejects with the signal's reason when aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

interface Sleeper {
  readonly dueMs: number;
  readonly wake: () => void;
}

/** A clock that moves only when told to. Sleepers wake in the order of their due times. */
export class VirtualClock implements Clock {
  #nowMs: number;
  readonly #startMs: number;
  #sleepers: Sleeper[] = [];

  constructor(startMs = 1_767_225_600_000) {
    this.#nowMs = startMs;
    this.#startMs = startMs;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  monotonicMs(): number {
    return this.#nowMs - this.#startMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
    if (ms <= 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const sleeper: Sleeper = { dueMs: this.#nowMs + ms, wake: resolve };
      this.#sleepers.push(sleeper);
      signal?.addEventListener('abort', () => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
        reject(signal.reason as Error);
      });
    });
  }

  /** How many callers are asleep. */
  get sleeping(): number {
    return this.#sleepers.length;
  }

  /** Moves time forward by `ms`, waking each sleeper at its own due time. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms;
    await settled();
    for (;;) {
      const next = this.#sleepers
        .filter((sleeper) => sleeper.dueMs <= endMs)
        .sort((a, b) => a.dueMs - b.dueMs)[0];
      if (next === undefined) break;
      this.#nowMs = next.dueMs;
      this.#sleepers = this.#sleepers.filter((other) => other !== next);
      next.wake();
      // Let what was awakened run, so that it can go to sleep again before time moves on.
      await settled();
    }
    this.#nowMs = endMs;
  }
}

/** Chains of promises are shorter than this many turns. */
const TURNS = 50;

async function settled(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await Promise.resolve();
}

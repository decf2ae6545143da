import type { Clock } from '#kernel/core/clock.ts';
import type { Log } from '#kernel/system/log.ts';

/** Unfinished events by Service, the largest of its Triggers; a Service without a Trigger is not in it. */
export type Lags = Readonly<Record<string, number>>;

/** A figure older than this says nothing about now: the broker does not answer. */
const MAX_AGE_MS = 5_000;
const READ_EVERY_MS = 1_000;

/**
 * Reads the lags of all Services once a second, beside everything else: a broker that is down must not
 * hold up the sampling of what still works.
 */
export class LagReader {
  readonly #read: () => Promise<Lags>;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #stopping = new AbortController();
  #lags: Lags = {};
  #atMs = -Infinity;
  #failing = false;
  #loop: Promise<void> | undefined;

  constructor(read: () => Promise<Lags>, clock: Clock, log: Log) {
    this.#read = read;
    this.#clock = clock;
    this.#log = log;
  }

  start(): void {
    this.#loop = this.#run();
  }

  /** null: it has no Trigger, or the broker does not answer. */
  lag(service: string): number | null {
    if (this.#clock.monotonicMs() - this.#atMs > MAX_AGE_MS) return null;
    return this.#lags[service] ?? null;
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('The lag reader is being stopped'));
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        this.#lags = await this.#read();
        this.#atMs = this.#clock.monotonicMs();
        this.#failing = false;
      } catch (error) {
        // Told once, not once a second; `lag` says null soon.
        if (!this.#failing) this.#log.warn('lags cannot be read', { error: String(error) });
        this.#failing = true;
      }
      await this.#clock.sleep(READ_EVERY_MS, signal).catch(() => undefined);
    }
  }
}

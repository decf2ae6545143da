import { TachographError } from '../core/errors.ts';
import type { BurstReport } from './demand.ts';
import type { BurstRequest } from './burner.ts';

/** Burns one burst at a time: the calling thread, or a worker. */
export interface BurstServer {
  /** Ends early, with a report that says so, when the signal aborts. */
  burn(request: BurstRequest, signal: AbortSignal): Promise<BurstReport>;
  close(): Promise<void>;
}

interface Waiting {
  readonly start: (server: BurstServer) => void;
  readonly leave: () => void;
}

/** Bursts in the order of their arrival, before a fixed number of servers. */
export class BurstQueue {
  readonly #idle: BurstServer[];
  readonly #servers: readonly BurstServer[];
  readonly #maxQueue: number;
  readonly #nowMs: () => number;
  #waiting: Waiting[] = [];

  constructor(servers: readonly BurstServer[], maxQueue: number, nowMs: () => number) {
    this.#servers = servers;
    this.#idle = [...servers];
    this.#maxQueue = maxQueue;
    this.#nowMs = nowMs;
  }

  /** Bursts that wait; those being burned not counted. */
  get length(): number {
    return this.#waiting.length;
  }

  /**
   * Resolves with the burst's report; with undefined when the signal aborts before it begins, or the queue is closed.
   *
   * @throws TachographError DEMAND_QUEUE_FULL (retry).
   */
  async run(request: BurstRequest, signal: AbortSignal): Promise<BurstReport | undefined> {
    if (signal.aborted) return undefined;
    const sinceMs = this.#nowMs();
    const server = this.#idle.pop() ?? (await this.#wait(signal));
    if (server === undefined) return undefined;
    const queuedMs = this.#nowMs() - sinceMs;
    try {
      return { ...(await server.burn(request, signal)), queuedMs };
    } finally {
      this.#release(server);
    }
  }

  /** What waits does not begin any more; the servers end what they burn. */
  async close(): Promise<void> {
    for (const { leave } of this.#waiting) leave();
    await Promise.all(this.#servers.map((server) => server.close()));
  }

  #wait(signal: AbortSignal): Promise<BurstServer | undefined> {
    if (this.#waiting.length >= this.#maxQueue) {
      throw new TachographError('DEMAND_QUEUE_FULL', {
        waiting: this.#waiting.length,
        max: this.#maxQueue,
      });
    }
    return new Promise((resolve) => {
      const leave = (): void => {
        this.#waiting = this.#waiting.filter((other) => other !== waiting);
        resolve(undefined);
      };
      const waiting: Waiting = {
        leave,
        start: (server) => {
          signal.removeEventListener('abort', leave);
          resolve(server);
        },
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(waiting);
    });
  }

  #release(server: BurstServer): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#idle.push(server);
    else next.start(server);
  }
}

import { Worker } from 'node:worker_threads';
import type { Clock } from '#kernel/core/clock.ts';
import type { Accounted, BurnReply, BurnRequest, BurnStand } from './burn-stand.ts';
import { arrivals, createGate, type Gate, openGate } from './gate.ts';
import { readThreadAccount, type ThreadAccount } from './thread-account.ts';

type ReplyOf<Kind extends BurnReply['kind']> = Extract<BurnReply, { kind: Kind }>;

/** Between two looks at whether the thread is done: seldom enough to leave it its CPU. */
const LOOK_MS = 2;

/**
 * Starts a stand of one thread, and keeps its account from this one. An abort ends the thread in the
 * middle of a burst; requests then reject with the signal's reason.
 */
export async function startStand(clock: Clock, signal: AbortSignal): Promise<BurnStand> {
  signal.throwIfAborted();
  const thread = new Thread(clock, signal);
  try {
    return thread.asStand(await thread.reply('ready'));
  } catch (error) {
    await thread.close();
    throw error;
  }
}

class Thread {
  readonly #gate: Gate = createGate();
  readonly #worker: Worker;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #abort = (): void => void this.#worker.terminate();
  /** Why nothing more comes from the thread. */
  #ended: Error | undefined;
  #tid: number | null = null;
  #stops = 0;

  constructor(clock: Clock, signal: AbortSignal) {
    const program = new URL('stand-worker.ts', import.meta.url);
    this.#worker = new Worker(program, { workerData: this.#gate });
    this.#clock = clock;
    this.#signal = signal;
    signal.addEventListener('abort', this.#abort);
    this.#worker.once('error', (error: Error) => (this.#ended ??= error));
    this.#worker.once('exit', () => (this.#ended ??= this.#reason()));
  }

  asStand({ tid, clock, clockFault }: ReplyOf<'ready'>): BurnStand {
    this.#tid = tid;
    return {
      clock,
      clockFault,
      rate: async () => this.#ask({ kind: 'rate' }, 'rate', ({ pieces }) => pieces),
      series: async (series) =>
        this.#ask({ kind: 'series', series }, 'series', ({ bursts }) => bursts),
      nothing: async () => this.#ask({ kind: 'nothing' }, 'nothing', () => undefined),
      close: () => this.close(),
    };
  }

  async #ask<Kind extends BurnReply['kind'], T>(
    request: BurnRequest,
    kind: Kind,
    pick: (reply: ReplyOf<Kind>) => T,
  ): Promise<Accounted<T>> {
    this.#worker.postMessage(request, []);
    const before = await this.#accountAtGate();
    openGate(this.#gate);
    const after = await this.#accountAtGate();
    const reply = this.reply(kind);
    openGate(this.#gate);
    const value = pick(await reply);
    if (before === null || after === null) return { value, account: null };
    const cpuMs = after.cpuMs - before.cpuMs;
    return { value, account: { cpuMs, readyMs: after.readyMs - before.readyMs } };
  }

  /** Waits until the thread stops at the gate once more, and reads its account there. */
  async #accountAtGate(): Promise<ThreadAccount | null> {
    this.#stops += 1;
    while (arrivals(this.#gate) < this.#stops) {
      if (this.#ended !== undefined) throw this.#ended;
      await this.#clock.sleep(LOOK_MS);
    }
    return this.#tid === null ? null : readThreadAccount(this.#tid, this.#clock);
  }

  /** The thread's next message; rejects when it fails or ends instead. */
  async reply<Kind extends BurnReply['kind']>(kind: Kind): Promise<ReplyOf<Kind>> {
    const { promise, resolve, reject } = Promise.withResolvers<BurnReply>();
    const onEnd = (): void => reject(this.#ended ?? this.#reason());
    this.#worker.once('message', resolve);
    this.#worker.once('error', onEnd);
    this.#worker.once('exit', onEnd);
    try {
      const reply = await promise;
      if (reply.kind === kind) return reply as ReplyOf<Kind>;
      throw new Error(`The stand answered ${reply.kind} where ${kind} was asked`);
    } finally {
      this.#worker.off('message', resolve);
      this.#worker.off('error', onEnd);
      this.#worker.off('exit', onEnd);
    }
  }

  #reason(): Error {
    const reason: unknown = this.#signal.reason;
    return this.#signal.aborted && reason instanceof Error
      ? reason
      : new Error('The stand ended by itself');
  }

  async close(): Promise<void> {
    this.#signal.removeEventListener('abort', this.#abort);
    await this.#worker.terminate();
  }
}

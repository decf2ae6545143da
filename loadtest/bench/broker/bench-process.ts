import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';

/** What the processes of the broker and data path benchmarks say to each other over their channel. */
export type BenchMessage =
  /** A server listens, or a program is ready to be told what to do. */
  | { readonly kind: 'ready'; readonly port: number }
  | { readonly kind: 'cpu' }
  | { readonly kind: 'cpuUsed'; readonly us: number }
  /** To the function: say when this many different events have come in. */
  | { readonly kind: 'expect'; readonly events: number }
  | { readonly kind: 'received' }
  /** To the generator. */
  | {
      readonly kind: 'send';
      readonly url: string;
      readonly mode: Mode;
      readonly round: string;
      readonly events: number;
    }
  | { readonly kind: 'sent'; readonly refused: number }
  /** To the hop of the data path: at which port its gateway is. */
  | { readonly kind: 'askGateway' }
  | { readonly kind: 'gateway'; readonly port: number }
  /** To the same: have a replica, or none, so that events gather in the stream. */
  | { readonly kind: 'replica'; readonly ready: boolean }
  /** To the probe of the data path. */
  | { readonly kind: 'probe'; readonly requests: number; readonly gatewayUrl: string }
  | { readonly kind: 'probed'; readonly p50Ms: ProbedMs }
  /** To the same: queue so many requests at once, then let them be served. */
  | { readonly kind: 'burst'; readonly requests: number }
  | { readonly kind: 'burstServed'; readonly heldBytes: number; readonly servedPerS: number };

/** Median time of one request at a time to the same function, by its way there. */
export interface ProbedMs {
  readonly direct: number;
  readonly serve: number;
  readonly activator: number;
  readonly gateway: number;
}

export type Mode = 'lean' | 'naive';

/** Posts under way at once. */
export const CONNECTIONS = 64;
/** Deliveries under way at once, in both designs. */
export const MAX_IN_FLIGHT = 64;
const ANSWER_LIMIT_MS = 60_000;

/** The parent's side of a forked program. */
export class BenchProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<never>;
  port = 0;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#ended = new Promise((_, reject) => {
      child.once('exit', (code) => reject(new Error(`a bench process ended with ${code}`)));
    });
    this.#ended.catch(() => undefined);
  }

  static async start(module: string, ...args: readonly string[]): Promise<BenchProcess> {
    const child = fork(new URL(module, import.meta.url), [...args]);
    const started = new BenchProcess(child);
    const { port } = await started.answer('ready');
    started.port = port;
    return started;
  }

  tell(message: BenchMessage): void {
    this.#child.send(message);
  }

  /** The next message of a kind; rejects when the process ends or says nothing for a minute. */
  async answer<K extends BenchMessage['kind']>(
    kind: K,
  ): Promise<Extract<BenchMessage, { kind: K }>> {
    const limit = AbortSignal.timeout(ANSWER_LIMIT_MS);
    const { promise, resolve, reject } =
      Promise.withResolvers<Extract<BenchMessage, { kind: K }>>();
    const listen = (message: unknown): void => {
      if ((message as BenchMessage).kind === kind) {
        resolve(message as Extract<BenchMessage, { kind: K }>);
      }
    };
    this.#child.on('message', listen);
    limit.addEventListener('abort', () => reject(limit.reason as Error));
    try {
      return await Promise.race([promise, this.#ended]);
    } finally {
      this.#child.off('message', listen);
    }
  }

  /** User and system time since the process began, µs. */
  async cpuUs(): Promise<number> {
    const answered = this.answer('cpuUsed');
    this.tell({ kind: 'cpu' });
    return (await answered).us;
  }

  async stop(): Promise<void> {
    const gone = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGKILL');
    await gone;
  }
}

/** The child's side: answers `cpu` by itself, hands over the rest. */
export function listenToParent(handle: (message: BenchMessage) => void): void {
  process.on('message', (received) => {
    const message = received as BenchMessage;
    if (message.kind !== 'cpu') return handle(message);
    const { user, system } = process.cpuUsage();
    say({ kind: 'cpuUsed', us: user + system });
  });
  // The parent was killed: a child without one must not live on.
  process.on('disconnect', () => process.exit(1));
}

export const say = (message: BenchMessage): void => {
  process.send?.(message);
};

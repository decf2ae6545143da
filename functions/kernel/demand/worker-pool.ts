import { Worker } from 'node:worker_threads';
import { TachographError } from '../core/errors.ts';
import type { BurstRequest } from './burner.ts';
import type { BurstServer } from './burst-queue.ts';
import type { BurstReport } from './demand.ts';
import type { WorkerAnswer, WorkerOrder, WorkerStart } from './worker-messages.ts';

/**
 * Starts the workers and waits until each has tested its clock.
 *
 * @throws TachographError CPU_CLOCK_UNUSABLE when `needsClock` and a worker finds no clock.
 */
export async function openWorkerServers(
  workers: number,
  needsClock: boolean,
): Promise<readonly BurstServer[]> {
  const servers: WorkerServer[] = [];
  try {
    for (let count = 0; count < workers; count++) servers.push(new WorkerServer(needsClock));
    await Promise.all(servers.map((server) => server.ready()));
  } catch (error) {
    await Promise.all(servers.map((server) => server.close()));
    throw error;
  }
  return servers;
}

interface Expecting {
  readonly resolve: (answer: WorkerAnswer) => void;
  readonly reject: (error: Error) => void;
}

/** One worker thread. The messages alternate: an order, its answer. */
class WorkerServer implements BurstServer {
  readonly #worker: Worker;
  readonly #abortFlag = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  readonly #ready: Promise<WorkerAnswer>;
  readonly #exited: Promise<void>;
  #expecting: Expecting | undefined;
  #failure: Error | undefined;

  constructor(needsClock: boolean) {
    const workerData: WorkerStart = { needsClock, abortFlag: this.#abortFlag };
    this.#worker = new Worker(new URL('./burn-worker.ts', import.meta.url), { workerData });
    this.#worker.on('message', (answer: WorkerAnswer) => this.#expecting?.resolve(answer));
    this.#worker.on('error', (error) => this.#fail(error as Error));
    this.#exited = new Promise((resolve) => {
      this.#worker.on('exit', (code) => {
        this.#fail(new Error(`A burning worker ended with code ${code}`));
        resolve();
      });
    });
    this.#ready = this.#answer();
  }

  async ready(): Promise<void> {
    expectKind(await this.#ready, 'ready');
  }

  async burn(request: BurstRequest, signal: AbortSignal): Promise<BurstReport> {
    Atomics.store(this.#abortFlag, 0, signal.aborted ? 1 : 0);
    const abort = (): void => void Atomics.store(this.#abortFlag, 0, 1);
    signal.addEventListener('abort', abort, { once: true });
    try {
      this.#order(request);
      return expectKind(await this.#answer(), 'burned').report;
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  /** Ends the burst in progress, if there is one, then the thread. */
  async close(): Promise<void> {
    Atomics.store(this.#abortFlag, 0, 1);
    this.#order('close');
    await this.#exited;
  }

  #order(order: WorkerOrder): void {
    this.#worker.postMessage(order, []);
  }

  async #answer(): Promise<WorkerAnswer> {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      return await new Promise<WorkerAnswer>((resolve, reject) => {
        this.#expecting = { resolve, reject };
      });
    } finally {
      this.#expecting = undefined;
    }
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#expecting?.reject(this.#failure);
  }
}

function expectKind<K extends 'ready' | 'burned'>(
  answer: WorkerAnswer,
  kind: K,
): Extract<WorkerAnswer, { kind: K }> {
  if (answer.kind === kind) return answer as Extract<WorkerAnswer, { kind: K }>;
  if (answer.kind === 'failed' && answer.code === 'CPU_CLOCK_UNUSABLE') {
    throw new TachographError('CPU_CLOCK_UNUSABLE', { faults: answer.detail });
  }
  const detail = answer.kind === 'failed' ? answer.detail : `it answered ${answer.kind}`;
  throw new Error(`A burning worker failed: ${detail}`);
}

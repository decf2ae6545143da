import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { Decision, Observation, ScaleBounds } from '#infra/autoscaling/policy.ts';
import type { Clock } from '#kernel/core/clock.ts';
import { TachographError } from '#kernel/core/errors.ts';
import {
  checkAnswer,
  customDecision,
  type CustomPolicyInput,
} from '#infra/autoscaling/custom/custom-policy.ts';
import type { PolicyEngine } from './policy-engine.ts';
import type { WorkerAnswer } from './policy-worker.ts';

/** A policy has this long for one decision; the built-in ones take some microseconds. */
export const DECISION_LIMIT_MS = 1_000;
/** To load the program, with what it imports, on a busy machine. */
const LOAD_LIMIT_MS = 10_000;
const MAX_HEAP_MB = 64;

/** What a record keeps of it. */
export interface CustomConfig {
  /** The user's own settings. */
  readonly config: unknown;
  readonly bounds: ScaleBounds;
}

export interface CustomEngineOptions extends CustomConfig {
  readonly root: string;
  /** The program, relative to `root`. */
  readonly module: string;
  readonly periodMs: number;
  readonly clock: Clock;
  /** Replaced in tests. */
  readonly openWorker?: (url: string) => PolicyThread;
}

/** The thread as the engine sees it. */
export interface PolicyThread {
  post(input: CustomPolicyInput): void;
  onAnswer(listener: (answer: WorkerAnswer) => void): void;
  /** Ended by itself: it left, or ran out of memory. */
  onEnd(listener: (detail: string) => void): void;
  terminate(): Promise<unknown>;
}

/**
 * A policy of the user's own in a thread. A thread that does not answer in time is ended, and the next
 * decision gets a new one with the last state that was good.
 */
export class CustomEngine implements PolicyEngine {
  readonly name = 'custom';
  readonly module: string;
  readonly config: CustomConfig;
  readonly periodMs: number;
  readonly pokes = true;
  readonly #options: CustomEngineOptions;
  #thread: PolicyThread | undefined;
  #state: unknown;
  #pending: ((answer: WorkerAnswer) => void) | undefined;

  constructor(options: CustomEngineOptions) {
    this.#options = options;
    this.module = options.module;
    const { config, bounds } = options;
    this.config = { config, bounds };
    this.periodMs = options.periodMs;
  }

  start(): void {
    this.#state = undefined;
  }

  /** Loads the program; rejects with POLICY_FAILED when that does not work: better now than later. */
  async load(): Promise<void> {
    if (this.#thread !== undefined) return;
    const url = pathToFileURL(join(this.#options.root, this.module)).href;
    const thread = (this.#options.openWorker ?? openThread)(url);
    this.#thread = thread;
    // What a thread that was given up still says must not be taken for an answer of the next one.
    thread.onAnswer((answer) => {
      if (this.#thread === thread) this.#pending?.(answer);
    });
    thread.onEnd((detail) => {
      if (this.#thread !== thread) return;
      this.#thread = undefined;
      this.#pending?.({ kind: 'failed', detail });
    });
    await this.#await(LOAD_LIMIT_MS, 'to load', () => undefined);
  }

  async decide(observation: Observation, nowMs: number): Promise<Decision> {
    await this.load();
    const input: CustomPolicyInput = {
      config: this.config.config,
      state: this.#state,
      observation,
      nowMs,
    };
    const answer = await this.#await(DECISION_LIMIT_MS, 'for a decision', () =>
      this.#thread?.post(input),
    );
    const checked = checkAnswer(this.module, answer);
    this.#state = checked.state;
    return customDecision(checked, this.#options.bounds);
  }

  async close(): Promise<void> {
    const thread = this.#thread;
    this.#thread = undefined;
    await thread?.terminate();
  }

  async #await(limitMs: number, what: string, begin: () => void): Promise<unknown> {
    const { promise, resolve } = Promise.withResolvers<WorkerAnswer>();
    this.#pending = resolve;
    const waiting = new AbortController();
    const late = this.#options.clock.sleep(limitMs, waiting.signal).then(
      (): WorkerAnswer => ({ kind: 'failed', detail: `it took more than ${limitMs} ms ${what}` }),
      (): WorkerAnswer => ({ kind: 'failed', detail: 'it was stopped' }),
    );
    begin();
    const answer = await Promise.race([promise, late]);
    waiting.abort();
    this.#pending = undefined;
    if (answer.kind === 'answer') return answer.answer;
    if (answer.kind === 'loaded') return undefined;
    // A thread in an unknown condition is of no use: what it may still say would be taken for the next.
    await this.close();
    throw new TachographError('POLICY_FAILED', { policy: this.module, detail: answer.detail });
  }
}

function openThread(url: string): PolicyThread {
  const worker = new Worker(new URL('./policy-worker.ts', import.meta.url), {
    workerData: { url },
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    // What the program prints is nobody's result, and stdout may be a document of ours.
    stdout: true,
    stderr: true,
    env: {},
  });
  return {
    post: (input) => worker.postMessage(input, []),
    onAnswer: (listener) => worker.on('message', listener),
    onEnd: (listener) => {
      // A program may throw anything, also null.
      worker.on('error', (error: unknown) => {
        listener(`it ended: ${error instanceof Error ? error.message : String(error)}`);
      });
      worker.on('exit', (code) => listener(`it ended with exit code ${code}`));
    },
    terminate: () => worker.terminate(),
  };
}

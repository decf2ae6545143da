import type { Clock } from '#kernel/core/clock.ts';
import type { Log } from '#kernel/system/log.ts';
import { crashesInRow, restartDelayMs, type RestartPolicy } from './restart-policy.ts';

/** A started process, as much of it as a replica needs. */
export interface ChildHandle {
  readonly pid: number | undefined;
  /** Resolves with the port when the process says that it listens; never rejects. */
  readonly listening: Promise<number>;
  /** Resolves when the process has ended, or could not be started. */
  readonly ended: Promise<ChildEnd>;
  /** Signals the process and what it started itself. */
  signal(name: 'SIGTERM' | 'SIGKILL'): void;
}

export interface ChildEnd {
  readonly code: number | null;
  readonly signal: string | null;
  readonly error?: Error;
}

/** launching → ready → (draining) → gone; a crash goes through backoff to launching again. */
export type ReplicaPhase = 'launching' | 'ready' | 'backoff' | 'draining' | 'gone';

export interface ReplicaStatus {
  readonly name: string;
  readonly phase: ReplicaPhase;
  readonly pid: number | undefined;
  readonly port: number | undefined;
  /** Starts beyond the first. */
  readonly restarts: number;
  readonly lastEnd: string | undefined;
}

export interface ReplicaOptions {
  readonly name: string;
  readonly start: () => ChildHandle;
  readonly clock: Clock;
  readonly log: Log;
  readonly policy: RestartPolicy;
  /** A process that does not listen by then is ended and counts as crashed. */
  readonly readyWithinMs: number;
  /** After SIGTERM; then SIGKILL. */
  readonly drainMs: number;
  readonly onChange: (replica: Replica) => void;
}

/**
 * One process of a Service, kept alive: a crash is followed by a start after a growing wait.
 *
 * `stop` ends it for good, whatever it is doing; it is safe to call at any time and more than once.
 */
export class Replica {
  readonly #options: ReplicaOptions;
  readonly #stopping = new AbortController();
  #phase: ReplicaPhase = 'launching';
  #child: ChildHandle | undefined;
  #port: number | undefined;
  #starts = 0;
  /** The process under way was given up because it did not listen in time. */
  #late = false;
  #crashes = 0;
  #lastEnd: string | undefined;
  readonly #loop: Promise<void>;

  constructor(options: ReplicaOptions) {
    this.#options = options;
    this.#loop = this.#run();
  }

  get port(): number | undefined {
    return this.#phase === 'ready' ? this.#port : undefined;
  }

  get status(): ReplicaStatus {
    return {
      name: this.#options.name,
      phase: this.#phase,
      pid: this.#phase === 'backoff' || this.#phase === 'gone' ? undefined : this.#child?.pid,
      port: this.port,
      restarts: Math.max(0, this.#starts - 1),
      lastEnd: this.#lastEnd,
    };
  }

  /** Asks the process to finish, ends it after the grace time, and resolves when it is gone. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('The replica is being stopped'));
    await this.#loop;
  }

  #move(phase: ReplicaPhase): void {
    this.#phase = phase;
    this.#options.onChange(this);
  }

  async #run(): Promise<void> {
    const { clock, log, name, policy, readyWithinMs } = this.#options;
    while (!this.#stopping.signal.aborted) {
      this.#move('launching');
      this.#starts += 1;
      this.#late = false;
      const child = this.#options.start();
      this.#child = child;
      const readyAtMs = await this.#awaitReady(child);
      const end = await this.#awaitEnd(child);
      this.#port = undefined;
      if (this.#stopping.signal.aborted) break;
      const readyMs = readyAtMs === undefined ? 0 : clock.monotonicMs() - readyAtMs;
      this.#crashes = crashesInRow(this.#crashes, readyMs, policy);
      this.#lastEnd = this.#late ? `not ready within ${readyWithinMs} ms` : endText(end);
      const delayMs = restartDelayMs(this.#crashes, policy);
      log.warn('stage ended, starting it again', { name, end: this.#lastEnd, delayMs });
      this.#move('backoff');
      await this.#pause(delayMs);
    }
    this.#move('gone');
  }

  /** Sleeps; a stop ends the sleep early and is seen by the caller's loop. */
  async #pause(ms: number): Promise<void> {
    const { signal } = this.#stopping;
    try {
      await this.#options.clock.sleep(ms, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** Monotonic time at which it became ready; undefined when it ended, was ended or is to stop. */
  async #awaitReady(child: ChildHandle): Promise<number | undefined> {
    const { clock, log, name, readyWithinMs } = this.#options;
    const waiting = new AbortController();
    const late = clock
      .sleep(readyWithinMs, AbortSignal.any([waiting.signal, this.#stopping.signal]))
      .then(
        () => 'late' as const,
        () => 'stopped' as const,
      );
    const port = await Promise.race([child.listening, child.ended.then(() => 'ended'), late]);
    waiting.abort();
    if (typeof port === 'number') {
      if (this.#stopping.signal.aborted) return undefined;
      this.#port = port;
      this.#move('ready');
      return clock.monotonicMs();
    }
    if (port === 'late') {
      log.error('stage did not become ready', { name, readyWithinMs });
      this.#late = true;
      child.signal('SIGKILL');
    }
    return undefined;
  }

  /** Waits for the end, which is the process's own unless a stop is asked for meanwhile. */
  async #awaitEnd(child: ChildHandle): Promise<ChildEnd> {
    const { clock, log, name, drainMs } = this.#options;
    const asked = this.#stopping.signal;
    const first = await Promise.race([child.ended, aborted(asked)]);
    if (first !== 'aborted') return first;
    this.#move('draining');
    child.signal('SIGTERM');
    const waiting = new AbortController();
    const late = clock.sleep(drainMs, waiting.signal).then(
      () => 'late' as const,
      () => 'done' as const,
    );
    const second = await Promise.race([child.ended, late]);
    waiting.abort();
    if (typeof second === 'string') {
      log.warn('stage did not stop in time and was killed', { name, drainMs });
      child.signal('SIGKILL');
    }
    return child.ended;
  }
}

function aborted(signal: AbortSignal): Promise<'aborted'> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve('aborted');
    else signal.addEventListener('abort', () => resolve('aborted'), { once: true });
  });
}

function endText(end: ChildEnd): string {
  if (end.error !== undefined) return end.error.message;
  return end.signal === null ? `exit code ${end.code ?? '?'}` : `signal ${end.signal}`;
}

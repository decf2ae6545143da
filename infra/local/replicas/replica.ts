import type { ReplicaAddress } from '#infra/local/data-path/replica-address.ts';
import type { ReplicaPhaseName } from '#infra/local/cluster-records.ts';
import type { Clock } from '#kernel/core/clock.ts';
import type { ListeningMessage, StartTimings } from '#kernel/core/listening-message.ts';
import type { Log } from '#kernel/system/log.ts';
import { crashesInRow, restartDelayMs, type RestartPolicy } from './restart-policy.ts';
import type { StartSlots } from './start-slots.ts';

/** A started process, as much of it as a replica needs. */
export interface ChildHandle {
  readonly pid: number | undefined;
  /** Resolves when the process says that it listens; never rejects. */
  readonly listening: Promise<Listening>;
  /** Resolves when the process has ended, or could not be started. */
  readonly ended: Promise<ChildEnd>;
  /** Signals the process and what it started itself. */
  signal(name: 'SIGTERM' | 'SIGKILL'): void;
}

/** What the process says when it takes requests. */
export type Listening = Pick<ListeningMessage, 'address' | 'timings'>;

export interface ChildEnd {
  readonly code: number | null;
  readonly signal: string | null;
  readonly error?: Error;
}

export interface ReplicaStatus {
  readonly name: string;
  readonly phase: ReplicaPhaseName;
  readonly node: string | null;
  readonly pid: number | undefined;
  readonly address: ReplicaAddress | undefined;
  /** Starts beyond the first. */
  readonly restarts: number;
  readonly lastEnd: string | undefined;
}

export interface ReplicaOptions {
  readonly name: string;
  /**
   * Everything before the first process: a node, groups, the delay of a start. Rejects when the signal
   * is aborted; for another reason it is tried again like a crash.
   */
  readonly prepare: (signal: AbortSignal) => Promise<void>;
  readonly start: (attempt: number) => ChildHandle;
  /** Why a process ended that nobody here ended, where its end alone does not say it; null: nothing. */
  readonly explainEnd: () => Promise<string | null>;
  /** Ends when no request is at the replica any more. */
  readonly beforeStop: () => Promise<void>;
  /** The process is alive for the last time. */
  readonly lastLook: () => Promise<void>;
  readonly slots: StartSlots;
  readonly clock: Clock;
  readonly log: Log;
  readonly policy: RestartPolicy;
  /** A process that does not listen by then is ended and counts as crashed. */
  readonly readyWithinMs: number;
  readonly maxSlotMs: number;
  readonly onPhase: (phase: ReplicaPhaseName, why: string | null) => void;
  readonly onAddress: (address: ReplicaAddress | undefined) => void;
}

/** What is known of the process that runs now, or ran last; monotonic ms. */
export interface StartMarks {
  readonly slotMs: number;
  readonly spawnedMs: number;
  readonly readyMs: number;
  readonly timings: StartTimings | undefined;
}

interface Life {
  readonly why: string;
  readonly readyForMs: number;
}

/** The least that a process has between SIGTERM and SIGKILL, as Kubernetes extends a grace time. */
const MIN_STOP_MS = 2_000;

/**
 * One process of a Service, kept alive: a crash is followed by a start after a growing wait.
 *
 * pending → launching → ready → (draining) → gone; a crash goes through backoff to launching again.
 * `stop` ends it for good, whatever it is doing; it is safe to call at any time and more than once.
 */
export class Replica {
  readonly name: string;
  readonly #options: ReplicaOptions;
  readonly #stopping = new AbortController();
  readonly #graceOver = new AbortController();
  readonly #gone = new AbortController();
  #phase: ReplicaPhaseName = 'pending';
  #child: ChildHandle | undefined;
  #address: ReplicaAddress | undefined;
  #marks: StartMarks | undefined;
  #attempts = 0;
  #crashes = 0;
  #lastEnd: string | undefined;
  /** The process was ended here, for this reason. */
  #killedFor: string | undefined;
  #stopWhy: string | null = null;
  readonly #loop: Promise<void>;

  constructor(options: ReplicaOptions) {
    this.name = options.name;
    this.#options = options;
    this.#loop = this.#run();
  }

  get phase(): ReplicaPhaseName {
    return this.#phase;
  }

  get address(): ReplicaAddress | undefined {
    return this.#address;
  }

  get pid(): number | undefined {
    return ['launching', 'ready', 'draining'].includes(this.#phase) ? this.#child?.pid : undefined;
  }

  /** Of the last start that became ready; undefined: none did. */
  get marks(): StartMarks | undefined {
    return this.#marks;
  }

  /** Starts beyond the first. */
  get restarts(): number {
    return Math.max(0, this.#attempts - 1);
  }

  get lastEnd(): string | undefined {
    return this.#lastEnd;
  }

  /** Ends the process at once, as a crash: it is started again. */
  kill(why: string): void {
    if (this.#killedFor !== undefined || this.pid === undefined) return;
    this.#killedFor = why;
    this.#child?.signal('SIGKILL');
  }

  /**
   * Waits for its requests, asks the process to finish, ends it when the grace time is over, and
   * resolves when it is gone. Called again, the shorter grace time counts.
   */
  async stop(graceMs: number, why: string | null = null): Promise<void> {
    if (!this.#stopping.signal.aborted) {
      this.#stopWhy = why;
      this.#stopping.abort(new Error('The replica is being stopped'));
    }
    void this.#pause(graceMs, this.#gone.signal).then(() => this.#graceOver.abort());
    await this.#loop;
  }

  #move(phase: ReplicaPhaseName, why: string | null = null): void {
    this.#phase = phase;
    this.#options.onPhase(phase, why);
  }

  #show(address: ReplicaAddress | undefined): void {
    if (this.#address === address) return;
    this.#address = address;
    this.#options.onAddress(address);
  }

  async #run(): Promise<void> {
    // Whoever made it has it in hand before it says anything.
    await Promise.resolve();
    const { signal } = this.#stopping;
    this.#move('pending');
    let prepared = false;
    while (!signal.aborted) {
      const failure: Life | undefined = prepared ? undefined : await this.#prepare();
      prepared = failure === undefined;
      const life = failure ?? (await this.#life());
      if (signal.aborted) break;
      await this.#backOff(life);
    }
    this.#gone.abort();
    this.#move('gone', this.#killedFor ?? this.#stopWhy);
  }

  async #prepare(): Promise<Life | undefined> {
    try {
      await this.#options.prepare(this.#stopping.signal);
      return undefined;
    } catch (error) {
      return { why: messageOf(error), readyForMs: 0 };
    }
  }

  async #backOff({ why, readyForMs }: Life): Promise<void> {
    const { log, policy, name } = this.#options;
    this.#crashes = crashesInRow(this.#crashes, readyForMs, policy);
    this.#lastEnd = why;
    const delayMs = restartDelayMs(this.#crashes, policy);
    log.warn('stage ended, starting it again', { name, end: why, delayMs });
    this.#move('backoff', why);
    await this.#pause(delayMs, this.#stopping.signal);
  }

  /** One process from its slot to its end. */
  async #life(): Promise<Life> {
    const { slots, clock, start, maxSlotMs } = this.#options;
    const { signal } = this.#stopping;
    const release = await slots.acquire(signal).catch((error: unknown) => {
      if (signal.aborted) return undefined;
      throw error;
    });
    if (release === undefined) return { why: 'it was stopped', readyForMs: 0 };
    const slotMs = clock.monotonicMs();
    this.#attempts += 1;
    this.#killedFor = undefined;
    const child = start(this.#attempts);
    this.#child = child;
    const spawnedMs = clock.monotonicMs();
    this.#move('launching');
    // One that never becomes ready must not keep the others from starting.
    const holding = new AbortController();
    void this.#pause(maxSlotMs, holding.signal).then(release);
    const listening = await this.#awaitListening(child);
    holding.abort();
    const readyMs = clock.monotonicMs();
    if (listening !== undefined && !signal.aborted) {
      this.#marks = { slotMs, spawnedMs, readyMs, timings: listening.timings };
      this.#move('ready');
      this.#show(listening.address);
    }
    const end = await this.#awaitEnd(child);
    const readyForMs = this.#address === undefined ? 0 : clock.monotonicMs() - readyMs;
    this.#show(undefined);
    return { why: await this.#why(end), readyForMs };
  }

  async #why(end: ChildEnd): Promise<string> {
    if (this.#killedFor !== undefined) return this.#killedFor;
    return (await this.#options.explainEnd()) ?? endText(end);
  }

  /** Sleeps; an abort ends the sleep early. */
  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    try {
      await this.#options.clock.sleep(ms, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** undefined when it ended, was ended or is to stop. */
  async #awaitListening(child: ChildHandle): Promise<Listening | undefined> {
    const { clock, log, name, readyWithinMs } = this.#options;
    const waiting = new AbortController();
    const late = clock
      .sleep(readyWithinMs, AbortSignal.any([waiting.signal, this.#stopping.signal]))
      .then(
        () => 'late' as const,
        () => 'stopped' as const,
      );
    const ended = child.ended.then(() => 'ended' as const);
    const first = await Promise.race([child.listening, ended, late]);
    waiting.abort();
    if (typeof first === 'object') return first;
    if (first === 'late') {
      log.error('stage did not become ready', { name, readyWithinMs });
      this.kill(`not ready within ${readyWithinMs} ms`);
    }
    return undefined;
  }

  /** Waits for the end, which is the process's own unless a stop is asked for meanwhile. */
  async #awaitEnd(child: ChildHandle): Promise<ChildEnd> {
    const ended = new AbortController();
    const first = await Promise.race([child.ended, aborted(this.#stopping.signal, ended.signal)]);
    // A replica that crashes for days must not gather listeners.
    ended.abort();
    if (first !== 'aborted') return first;
    this.#move('draining', this.#stopWhy);
    if (this.#address !== undefined) {
      await Promise.race([this.#requestsDone(), child.ended, aborted(this.#graceOver.signal)]);
      this.#show(undefined);
      await this.#options.lastLook();
    }
    child.signal('SIGTERM');
    const leastMs = this.#pause(MIN_STOP_MS, this.#gone.signal);
    const late = Promise.all([aborted(this.#graceOver.signal), leastMs]).then(
      () => 'late' as const,
    );
    const second = await Promise.race([child.ended, late]);
    if (second === 'late') {
      const { log, name } = this.#options;
      log.warn('stage did not stop in time and was killed', { name });
      this.kill('it did not stop in time and was killed');
    }
    return child.ended;
  }

  async #requestsDone(): Promise<void> {
    const { beforeStop, log, name } = this.#options;
    try {
      await beforeStop();
    } catch (error) {
      // Its process is asked to finish what is in flight in any case.
      log.error('the requests of a stage to be stopped are not known', {
        name,
        why: messageOf(error),
      });
    }
  }
}

/** Resolves when `signal` is aborted; not any more once `until` is. */
function aborted(signal: AbortSignal, until?: AbortSignal): Promise<'aborted'> {
  return new Promise((resolve) => {
    const options = { once: true, ...(until === undefined ? {} : { signal: until }) };
    if (signal.aborted) resolve('aborted');
    else signal.addEventListener('abort', () => resolve('aborted'), options);
  });
}

function endText(end: ChildEnd): string {
  if (end.error !== undefined) return end.error.message;
  return end.signal === null ? `exit code ${end.code ?? '?'}` : `signal ${end.signal}`;
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

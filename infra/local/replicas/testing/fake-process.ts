import type { ReplicaAddress } from '#infra/local/data-path/replica-address.ts';
import type { StartTimings } from '#kernel/core/listening-message.ts';
import type { ChildEnd, ChildHandle, Listening } from '../replica.ts';

/** A scripted process: the test says when it listens and how it ends. */
export class FakeProcess implements ChildHandle {
  readonly pid: number;
  readonly listening: Promise<Listening>;
  readonly ended: Promise<ChildEnd>;
  /** Signals it was sent, in order. */
  readonly signals: string[] = [];
  /** Ends at SIGTERM by itself unless told otherwise; at SIGKILL always. */
  ignoresSigterm = false;
  readonly #listen: (listening: Listening) => void;
  readonly #end: (end: ChildEnd) => void;

  constructor(pid: number) {
    this.pid = pid;
    const listening = Promise.withResolvers<Listening>();
    const ended = Promise.withResolvers<ChildEnd>();
    this.listening = listening.promise;
    this.ended = ended.promise;
    this.#listen = listening.resolve;
    this.#end = ended.resolve;
  }

  listen(address: ReplicaAddress | number, timings?: StartTimings): void {
    const where = typeof address === 'number' ? { port: address } : address;
    this.#listen({ address: where, ...(timings === undefined ? {} : { timings }) });
  }

  end(code: number): void {
    this.#end({ code, signal: null });
  }

  fail(message: string): void {
    this.#end({ code: null, signal: null, error: new Error(message) });
  }

  signal(name: 'SIGTERM' | 'SIGKILL'): void {
    this.signals.push(name);
    if (name === 'SIGKILL') this.#end({ code: null, signal: 'SIGKILL' });
    else if (!this.ignoresSigterm) this.#end({ code: 0, signal: null });
  }
}

/** Lets everything run that waits for nothing but its turn. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 60; turn++) await Promise.resolve();
}

import type { ChildEnd, ChildHandle } from '../replica.ts';

/** A scripted process: the test says when it listens and how it ends. */
export class FakeProcess implements ChildHandle {
  readonly pid: number;
  readonly listening: Promise<number>;
  readonly ended: Promise<ChildEnd>;
  /** Signals it was sent, in order. */
  readonly signals: string[] = [];
  /** Ends at SIGTERM by itself unless told otherwise; at SIGKILL always. */
  ignoresSigterm = false;
  readonly #listen: (port: number) => void;
  readonly #end: (end: ChildEnd) => void;

  constructor(pid: number) {
    this.pid = pid;
    const listening = Promise.withResolvers<number>();
    const ended = Promise.withResolvers<ChildEnd>();
    this.listening = listening.promise;
    this.ended = ended.promise;
    this.#listen = listening.resolve;
    this.#end = ended.resolve;
  }

  listen(port: number): void {
    this.#listen(port);
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
  for (let turn = 0; turn < 40; turn++) await Promise.resolve();
}

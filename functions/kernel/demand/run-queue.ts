import { closeSync, openSync, readSync } from 'node:fs';

/** What a thread went through beside its CPU time; read before and after a burst. */
export interface RunQueue {
  /** Time it was runnable and did not run, ms; null where the kernel keeps no account of it. */
  readyMs(): number | null;
  /** How often it was put aside although it could have gone on. */
  involuntarySwitches(): number;
  close(): void;
}

/** Field 2 of a thread's `schedstat` line, ns on the run queue: "834954 367280 2" gives 0.36728 ms. */
export function parseReadyMs(line: string): number | null {
  const field = /^\d+ (\d+) \d+/.exec(line)?.[1];
  return field === undefined ? null : Number(field) / 1e6;
}

/** The count in a thread's `status` page; 0 where the page has none. */
export const parseInvoluntarySwitches = (page: string): number =>
  Number(/^nonvoluntary_ctxt_switches:\s+(\d+)/m.exec(page)?.[1] ?? 0);

/**
 * The calling thread's own counters, from Linux's /proc. The files stay open: the kernel makes their
 * content at each reading, and to open them again would cost ten times as much.
 *
 * In the main thread the switches are those of the process, which costs 1 µs; a worker reads its own
 * `status` page (9 µs), since the other workers burn in the same process.
 */
export function openRunQueue(thread: 'main' | 'worker'): RunQueue {
  const schedstat = openPage('/proc/thread-self/schedstat');
  const status = thread === 'worker' ? openPage('/proc/thread-self/status') : undefined;
  return {
    readyMs: () => (schedstat === undefined ? null : parseReadyMs(schedstat.read())),
    involuntarySwitches: () =>
      status === undefined
        ? process.resourceUsage().involuntaryContextSwitches
        : parseInvoluntarySwitches(status.read()),
    close: () => {
      schedstat?.close();
      status?.close();
    },
  };
}

interface Page {
  read(): string;
  close(): void;
}

const PAGE_BYTES = 4096;

/** Undefined where the system has no such file (another system, a sandbox without /proc). */
function openPage(path: string): Page | undefined {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    if (['ENOENT', 'EACCES', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) {
      return undefined;
    }
    throw error;
  }
  const buffer = Buffer.alloc(PAGE_BYTES);
  return {
    read: () => buffer.toString('latin1', 0, readSync(file, buffer, 0, PAGE_BYTES, 0)),
    close: () => closeSync(file),
  };
}

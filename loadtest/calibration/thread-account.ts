import { readFile } from 'node:fs/promises';
import type { Clock } from '#kernel/core/clock.ts';

/** The kernel's own account of a thread: what it ran and what it waited for a CPU, in ms. */
export interface ThreadAccount {
  readonly cpuMs: number;
  readonly readyMs: number;
}

const NS_PER_MS = 1_000_000;

/** Reads before a thread that ought to be asleep is taken as it is. */
const MAX_READS = 50;
const RETRY_MS = 1;

/** `/proc/PID/task/TID/schedstat`: ns on a CPU, ns on the run queue, slices (proc_pid_schedstat). */
export function parseSchedstat(text: string): ThreadAccount | null {
  const [ran, waited] = text.trim().split(/\s+/).map(Number);
  if (ran === undefined || waited === undefined) return null;
  if (!Number.isFinite(ran) || !Number.isFinite(waited)) return null;
  return { cpuMs: ran / NS_PER_MS, readyMs: waited / NS_PER_MS };
}

/** The state letter of `/proc/PID/task/TID/stat`, after the name in brackets: R runs, S sleeps. */
export const threadState = (stat: string): string => stat.slice(stat.lastIndexOf(')') + 2)[0] ?? '';

/**
 * The account of another thread of this process, read while that thread sleeps: the kernel brings it up
 * to date when a thread leaves the CPU, and otherwise only once a tick (4 ms). null without schedstat.
 */
export async function readThreadAccount(tid: number, clock: Clock): Promise<ThreadAccount | null> {
  const folder = `/proc/self/task/${tid}`;
  try {
    for (let read = 1; read < MAX_READS; read++) {
      if (threadState(await readFile(`${folder}/stat`, 'utf8')) !== 'R') break;
      await clock.sleep(RETRY_MS);
    }
    return parseSchedstat(await readFile(`${folder}/schedstat`, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

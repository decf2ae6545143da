import { readFile } from 'node:fs/promises';

/** What a process has used since its start, and holds now. */
export interface ProcessUsage {
  readonly cpuMs: number;
  readonly memoryBytes: number;
}

/** undefined: there is no such process, or the system has no account of it. */
export type ReadUsage = (pid: number) => Promise<ProcessUsage | undefined>;

/** USER_HZ has been 100 on every architecture that Node runs on. */
const MS_PER_TICK = 10;

/**
 * User and system time of a page `/proc/PID/stat`, in ms, in steps of 10 ms; all threads, those that
 * have ended too. The name in parentheses may hold anything, so fields count from its end.
 */
export function parseCpuMs(page: string): number | undefined {
  const fields = page.slice(page.lastIndexOf(')') + 2).split(' ');
  // Of proc(5)'s numbers 3 is the first here: utime is 14, stime 15.
  const ticks = Number(fields[11]) + Number(fields[12]);
  return Number.isFinite(ticks) ? ticks * MS_PER_TICK : undefined;
}

/** Resident memory of a page `/proc/PID/status`, which has it in KiB. */
export function parseResidentBytes(page: string): number | undefined {
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(page)?.[1];
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1_024;
}

/** From /proc. Where there is none (not Linux) nothing is known. */
export const readProcUsage: ReadUsage = async (pid) => {
  const [stat, status] = await Promise.all([
    pageOf(`/proc/${pid}/stat`),
    pageOf(`/proc/${pid}/status`),
  ]);
  const cpuMs = parseCpuMs(stat ?? '');
  // A process that has ended and is not collected yet has no VmRSS.
  const memoryBytes = parseResidentBytes(status ?? '');
  return cpuMs === undefined || memoryBytes === undefined ? undefined : { cpuMs, memoryBytes };
};

async function pageOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES') return undefined;
    throw error;
  }
}

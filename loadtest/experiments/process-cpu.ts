import { readFile } from 'node:fs/promises';

/** Linux counts in ticks of 10 ms; USER_HZ has been 100 on every architecture Node runs on. */
const MS_PER_TICK = 10;

/**
 * CPU time a process has consumed, user and system, in ms; null where there is no /proc or the process
 * is gone.
 */
export async function processCpuMs(pid: number): Promise<number | null> {
  let text: string;
  try {
    text = await readFile(`/proc/${pid}/stat`, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return null;
    throw error;
  }
  return cpuMsOfStat(text);
}

/** utime and stime are fields 14 and 15 of proc(5); the second, a name in brackets, may hold spaces. */
export function cpuMsOfStat(text: string): number | null {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  return Number.isFinite(ticks) ? ticks * MS_PER_TICK : null;
}

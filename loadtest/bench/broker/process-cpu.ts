import { readFile } from 'node:fs/promises';

/** Linux counts a process's CPU time in hundredths of a second. */
const US_PER_TICK = 10_000;

/** User and system time of another process, µs; 0 where there is no /proc. */
export async function processCpuUs(pid: number): Promise<number> {
  if (process.platform !== 'linux') return 0;
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The name, in parentheses, may hold blanks; user and system ticks are the 12th and 13th after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * US_PER_TICK;
}

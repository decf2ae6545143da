import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const PS_TIMEOUT_MS = 5_000;

/**
 * What tells a process from a later one that was given the same id: when it started, as text without
 * further meaning. Undefined when there is no such process.
 */
export async function processIdentity(pid: number): Promise<string | undefined> {
  if (process.platform === 'linux') {
    try {
      return startTicks(await readFile(`/proc/${pid}/stat`, 'utf8'));
    } catch (error) {
      if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) {
        return undefined;
      }
      throw error;
    }
  }
  try {
    const { stdout } = await run('ps', ['-o', 'lstart=', '-p', String(pid)], {
      timeout: PS_TIMEOUT_MS,
    });
    return stdout.trim() === '' ? undefined : stdout.trim();
  } catch (error) {
    // ps exits 1 when it has nothing to list.
    if ((error as { code?: unknown }).code === 1) return undefined;
    throw error;
  }
}

/**
 * Field 22 of /proc/<pid>/stat, start time in clock ticks since boot; undefined for a process that has
 * ended and waits to be collected (state Z). The name, field 2, may itself hold spaces and brackets.
 */
export function startTicks(stat: string): string | undefined {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
}

import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { sha256Hex } from '#kernel/system/sha256.ts';
import { errorCode } from './folder-errors.ts';

/** Whose a temporary folder is: `unit-<where>-<process id>-<random>`. */
export interface WriterProcess {
  /** Of the names of this process's folders. */
  readonly prefix: string;
  /** Whether a folder's process is known to have ended; false also where nobody here can tell. */
  isGone(name: string): boolean;
}

/** Process ids mean something only where they are given: on one machine, in one container. */
function place(): string {
  let namespace = '';
  try {
    namespace = readlinkSync('/proc/self/ns/pid');
  } catch (error) {
    // Only Linux has namespaces; elsewhere the machine is the place.
    if (errorCode(error) !== 'ENOENT') throw error;
  }
  return sha256Hex(`${hostname()} ${namespace}`).slice(0, 16);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it runs as somebody else.
    return errorCode(error) !== 'ESRCH';
  }
}

export function thisProcess(): WriterProcess {
  const here = `unit-${place()}-`;
  return {
    prefix: `${here}${process.pid}-`,
    isGone: (name) => {
      if (!name.startsWith(here)) return false;
      const pid = /^(\d{1,10})-/.exec(name.slice(here.length))?.[1];
      return pid !== undefined && !isRunning(Number(pid));
    },
  };
}

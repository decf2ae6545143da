import { readFileSync } from 'node:fs';

/** Of `daemon.log`, which holds one stack trace at most, so much is looked at. */
const MAX_READ = 16_384;
const REASON = /^(?:Uncaught )?\w*Error(?: \[\w+\])?: .+|^FATAL .+/m;

/** Why the process behind `up` ended without a word: its exit, and the error it left in its log. */
export function daemonFault(code: number | null, logPath: string): string {
  const ended = `it ended with code ${code ?? '?'}`;
  let text: string;
  try {
    text = readFileSync(logPath, 'utf8').slice(0, MAX_READ);
  } catch (error) {
    return `${ended}; ${logPath} cannot be read (${(error as Error).message})`;
  }
  const reason = REASON.exec(text)?.[0];
  return reason === undefined ? `${ended}; see ${logPath}` : `${ended}: ${reason}; see ${logPath}`;
}

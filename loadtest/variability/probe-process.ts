import { fork } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { must } from '#kernel/core/assert.ts';
import type { Clock } from '#kernel/core/clock.ts';
import { readProbeLines, type ProbeJob } from './probe-job.ts';
import type { BurstRow, ProbeFacts } from './study-rows.ts';

const PROGRAM = fileURLToPath(new URL('probe.main.ts', import.meta.url));

export interface ProbeResult {
  readonly probe: ProbeFacts;
  readonly bursts: readonly BurstRow[];
}

/**
 * Runs one execution in a fresh process. Rejects when it fails, when it takes longer than `maxMs`, and
 * with the signal's reason at an abort; the process is gone in any case.
 */
export async function runProbe(
  job: ProbeJob,
  maxMs: number,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<ProbeResult> {
  signal.throwIfAborted();
  // In a process group of its own: Ctrl-C in a terminal goes to this process, which ends the probe.
  const child = fork(PROGRAM, [JSON.stringify(job)], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const exited = once(child, 'exit');
  const settled = new AbortController();
  const kill = (): void => void child.kill('SIGKILL');
  signal.addEventListener('abort', kill);
  let late = false;
  const timer = clock.sleep(maxMs, settled.signal).then(
    () => {
      late = true;
      kill();
    },
    () => undefined,
  );
  try {
    const [output, fault, [code]] = await Promise.all([
      text(must(child.stdout, 'output of the probe')),
      text(must(child.stderr, 'faults of the probe')),
      exited,
    ]);
    signal.throwIfAborted();
    if (late) throw new Error(`it took longer than ${Math.round(maxMs / 1_000)} s`);
    const result = code === 0 ? readProbeLines(output) : undefined;
    if (result === undefined) {
      throw new Error(`the probe failed (exit code ${String(code)}): ${lastLines(fault)}`);
    }
    return result;
  } finally {
    signal.removeEventListener('abort', kill);
    settled.abort();
    await timer;
  }
}

/** What a process says last names its fault. */
const lastLines = (fault: string): string => fault.trim().split('\n').slice(-5).join(' | ');

import { spawn, type ChildProcess } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { BoundedLogFile } from '#infra/local/bounded-log-file.ts';
import { readListeningMessage } from '#kernel/core/listening-message.ts';
import type { ChildEnd, ChildHandle, Listening } from './replica.ts';

const MAX_LOG_BYTES = 8_388_608;

/** Of the parent's environment a stage sees these alone: nothing secret leaks into it by accident. */
const PASSED_ON = ['PATH', 'TZ', 'LANG', 'TMPDIR', 'NODE_COMPILE_CACHE', 'LOG_LEVEL'] as const;

export interface ProcessRequest {
  /** The program, relative to `root`. */
  readonly entry: string;
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  /** Where stdout and stderr go. */
  readonly logPath: string;
  /** Files of cgroups that the process joins. */
  readonly joinFiles?: readonly string[];
}

/** The environment of a stage: the few variables passed on, then its own. */
export function stageEnvironment(
  parent: Readonly<Record<string, string | undefined>>,
  own: Readonly<Record<string, string>>,
): Record<string, string> {
  const env: Record<string, string> = {};
  for (const name of PASSED_ON) {
    const value = parent[name];
    if (value !== undefined) env[name] = value;
  }
  return { ...env, ...own };
}

/**
 * Starts a stage under the Node that runs this process.
 *
 * It gets its own process group: a terminal's Ctrl-C reaches the parent alone, which then stops the
 * stages in order. The message channel doubles as a life line: when the parent dies, however hard, the
 * channel closes and the stage ends by itself.
 */
export function spawnProcess(request: ProcessRequest): ChildHandle {
  const logFile = new BoundedLogFile(request.logPath, MAX_LOG_BYTES);
  const child = spawn(process.execPath, [request.entry], {
    cwd: request.root,
    env: { ...request.env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    detached: true,
  });
  child.stdout?.on('data', (piece: Buffer) => logFile.write(piece));
  child.stderr?.on('data', (piece: Buffer) => logFile.write(piece));
  const listening = new Promise<Listening>((resolve) => {
    child.on('message', (message: unknown) => {
      const heard = readListeningMessage(message);
      if (heard !== undefined) resolve(heard);
    });
  });
  const joining = joinGroups(child, request.joinFiles ?? []);
  const ended = new Promise<ChildEnd>((resolve) => {
    child.on('error', (error) => {
      if (child.pid === undefined) resolve({ code: null, signal: null, error });
    });
    // Whatever the stage itself started must not outlive it, nor hold its output open.
    child.once('exit', () => signalGroup(child.pid, 'SIGKILL'));
    child.once('close', (code, signal) => {
      void joining.then((error) => resolve({ code, signal, ...(error && { error }) }));
    });
  }).finally(() => logFile.close());
  return {
    pid: child.pid,
    listening,
    ended,
    signal: (name) => signalGroup(child.pid, name),
  };
}

/**
 * Puts the process into its groups; resolves with the reason why not. A process that cannot join is
 * ended: limits are kept or reported, never silently lost.
 *
 * Joining waits for the kernel (8 ms and more, for its RCU grace period), so that it is done beside this
 * thread, while the process boots: its first ms are outside its limits.
 */
async function joinGroups(
  child: ChildProcess,
  files: readonly string[],
): Promise<Error | undefined> {
  const { pid } = child;
  if (pid === undefined) return undefined;
  try {
    await Promise.all(files.map((file) => writeFile(file, String(pid))));
    return undefined;
  } catch (error) {
    // It has ended already; how, it says itself.
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return undefined;
    signalGroup(pid, 'SIGKILL');
    return new Error(`it could not join its group: ${(error as Error).message}`, { cause: error });
  }
}

/** Signals a process group; a group that has gone already is what was wanted. */
function signalGroup(pid: number | undefined, name: 'SIGTERM' | 'SIGKILL'): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, name);
  } catch (error) {
    // EPERM is what macOS says of a group whose last process has ended but is not collected yet.
    if (!['ESRCH', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

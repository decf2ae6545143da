import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Clock } from '#kernel/core/clock.ts';
import { parseMachineTicks, parseRunNs } from './probe-pages.ts';
import type { Occupancy } from './study-rows.ts';
import { NEIGHBOUR_MILLICORES } from './study.ts';

const PROGRAM = fileURLToPath(new URL('neighbour.main.ts', import.meta.url));
/** A neighbour ends by itself after an hour, whatever becomes of the study. */
const MAX_NEIGHBOUR_MS = 3_600_000;

/** The other processes of a node. */
export interface NodeNeighbours {
  readonly pids: readonly number[];
  stop(): Promise<void>;
}

/** Starts a node's neighbours in its group and returns when each of them runs. */
export async function startNodeNeighbours(
  count: number,
  joinFile: string | null,
): Promise<NodeNeighbours> {
  const children: ChildProcess[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(children.map(end));
  };
  const args = [String(NEIGHBOUR_MILLICORES), String(MAX_NEIGHBOUR_MS)];
  try {
    for (let index = 0; index < count; index++) {
      const child = fork(PROGRAM, joinFile === null ? args : [...args, joinFile], {
        detached: true,
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      });
      children.push(child);
    }
    await Promise.all(children.map(running));
  } catch (error) {
    await stop();
    throw error;
  }
  return { pids: children.flatMap(({ pid }) => (pid === undefined ? [] : [pid])), stop };
}

async function running(child: ChildProcess): Promise<void> {
  const failed = once(child, 'exit').then(([code]) => {
    throw new Error(`A neighbour did not start (exit code ${String(code)})`);
  });
  await Promise.race([once(child, 'message'), failed]);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

/** How busy a node is without a probe, over a window. */
export async function measureOccupancy(
  pids: readonly number[],
  windowMs: number,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<Occupancy> {
  const look = async () => ({
    atMs: clock.monotonicMs(),
    runNs: await runNs(pids),
    ticks: parseMachineTicks((await pageOf('/proc/stat')) ?? ''),
  });
  const before = await look();
  await clock.sleep(windowMs, signal);
  const after = await look();
  const elapsedMs = after.atMs - before.atMs;
  return {
    pods: pids.length,
    millicores:
      before.runNs === null || after.runNs === null
        ? null
        : (after.runNs - before.runNs) / 1_000 / elapsedMs,
    machineMillicores: machineMillicores(before.ticks, after.ticks, elapsedMs),
    windowMs: elapsedMs,
  };
}

type Ticks = ReturnType<typeof parseMachineTicks>;
/** USER_HZ has been 100 on every architecture Node runs on. */
const MS_PER_TICK = 10;

function machineMillicores(before: Ticks, after: Ticks, elapsedMs: number): number | null {
  if (before === null || after === null) return null;
  return ((after.busy - before.busy) * MS_PER_TICK * 1_000) / elapsedMs;
}

/** CPU time of all threads of the processes, ns; null where the system has no account. */
async function runNs(pids: readonly number[]): Promise<number | null> {
  let sum = 0;
  for (const pid of pids) {
    const threads = await threadsOf(pid);
    if (threads === null) return null;
    for (const thread of threads) {
      sum += parseRunNs((await pageOf(`/proc/${pid}/task/${thread}/schedstat`)) ?? '0');
    }
  }
  return sum;
}

async function threadsOf(pid: number): Promise<readonly string[] | null> {
  try {
    return await readdir(`/proc/${pid}/task`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** null where there is none, or the thread has ended. */
async function pageOf(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return null;
    throw error;
  }
}

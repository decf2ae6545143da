import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('busy-loop.main.ts', import.meta.url));

/** Other processes that want a CPU all the time. */
export interface Neighbours {
  stop(): Promise<void>;
}

/**
 * Starts `count` busy loops, pinned nowhere, and returns when each of them runs. They end when they
 * are stopped, when this process ends, or by themselves after `maxMs`.
 */
export async function startNeighbours(count: number, maxMs: number): Promise<Neighbours> {
  const children: ChildProcess[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(children.map(end));
  };
  try {
    for (let index = 0; index < count; index++) {
      const child = fork(PROGRAM, [String(maxMs)], {
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      });
      children.push(child);
      await Promise.race([once(child, 'message'), failed(child)]);
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { stop };
}

async function failed(child: ChildProcess): Promise<never> {
  const [code] = (await once(child, 'exit')) as [number | null];
  throw new Error(`A busy neighbour did not start (exit code ${code})`);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

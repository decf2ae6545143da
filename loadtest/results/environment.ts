import { execFile } from 'node:child_process';
import { arch, availableParallelism, cpus, release, totalmem, type } from 'node:os';
import { promisify } from 'node:util';

/** Where a run was made: what another run must share to be compared. */
export interface Environment {
  readonly cpuModel: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly os: string;
  readonly node: string;
  /** null: not known (a server given by URL, no git). */
  readonly natsServer: string | null;
  readonly gitCommit: string | null;
  /** The working tree differed from the commit; null where there is no git. */
  readonly gitDirty: boolean | null;
}

const run = promisify(execFile);
const COMMAND_TIMEOUT_MS = 10_000;

/** Asks the machine, and git in `root`; a tool that is not there makes its fields null. */
export async function readEnvironment(
  root: string,
  natsServer: string | null,
): Promise<Environment> {
  const commit = await output('git', ['-C', root, 'rev-parse', 'HEAD']);
  const changes = await output('git', ['-C', root, 'status', '--porcelain']);
  return {
    cpuModel: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    os: `${type()} ${release()} ${arch()}`,
    node: process.version,
    natsServer,
    gitCommit: commit,
    gitDirty: commit === null || changes === null ? null : changes !== '',
  };
}

async function output(command: string, args: readonly string[]): Promise<string | null> {
  try {
    const { stdout } = await run(command, [...args], { timeout: COMMAND_TIMEOUT_MS });
    return stdout.trim();
  } catch (error) {
    if (error instanceof Error) return null;
    throw error;
  }
}

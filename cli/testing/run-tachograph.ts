import { spawn, type ChildProcess } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const BIN = fileURLToPath(new URL('../../bin/tachograph.js', import.meta.url));

export interface CommandResult {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** A command line under way. */
export interface RunningCommand {
  readonly child: ChildProcess;
  /** What it has written to stderr so far. */
  err(): string;
  readonly result: Promise<CommandResult>;
}

/** Starts `tachograph ARGS` in a process group of its own, so that it can be signalled like by a terminal. */
export function startTachograph(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  bin = BIN,
): RunningCommand {
  const child = spawn(process.execPath, [bin, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (piece: Buffer) => (out += piece.toString()));
  child.stderr.on('data', (piece: Buffer) => (err += piece.toString()));
  const result = new Promise<CommandResult>((resolve) => {
    child.once('close', (code) => resolve({ code, out, err }));
  });
  return { child, err: () => err, result };
}

export const tachograph = (
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CommandResult> => startTachograph(args, env).result;

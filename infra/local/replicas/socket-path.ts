import { rmSync } from 'node:fs';
import { join } from 'node:path';

/** The kernel's limit is 108 bytes on Linux and 104 on macOS, the closing zero included. */
const MAX_SOCKET_PATH_BYTES = 103;

/**
 * The socket of one process: a process of the same replica started later has another, so that nobody
 * meets what a dead one has left. null: no folder is given, or the path would be too long.
 */
export function socketPathOf(
  folder: string | undefined,
  replica: string,
  attempt: number,
): string | null {
  if (folder === undefined) return null;
  const path = join(folder, `${replica}.${attempt}.sock`);
  return Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES ? path : null;
}

/** A process that was killed leaves its socket. */
export function removeSocket(path: string): void {
  rmSync(path, { force: true });
}

import { mkdir } from 'node:fs/promises';

/**
 * Makes a folder, and those above it that are missing, for its owner alone (0700): nats-server and the
 * store write files in it that others could read otherwise. A folder that is there keeps its mode,
 * which somebody chose.
 */
export async function makePrivateFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
}

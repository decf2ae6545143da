import { mkdirSync, writeFileSync } from 'node:fs';
import { readdir, readFile, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '#kernel/core/clock.ts';
import type { GroupSettings } from './cgroup-settings.ts';

/** The file system, as much as groups need; a fake stands for it in tests. */
export interface GroupFiles {
  mkdir(path: string): Promise<unknown>;
  rmdir(path: string): Promise<unknown>;
  readFile(path: string, encoding: 'utf8'): Promise<string>;
  writeFile(path: string, text: string): Promise<unknown>;
  /** Names of the folders in a folder. */
  folders(path: string): Promise<readonly string[]>;
}

/**
 * Groups are made in the middle of a cold start, and nothing of it waits for a disk: a replica's eight
 * calls take 0.5 ms here and now, and 3 ms by way of the thread pool.
 */
export const SYSTEM_FILES: GroupFiles = {
  mkdir: async (path) => mkdirSync(path),
  writeFile: async (path, text) => writeFileSync(path, text),
  rmdir,
  readFile,
  folders: async (path) =>
    (await readdir(path, { withFileTypes: true }))
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name),
};

export interface GroupMeans {
  readonly files: GroupFiles;
  readonly clock: Clock;
  /** Whether a process lives: leftovers of one that does not are removed. */
  readonly isAlive: (pid: number) => boolean;
}

/** A group with a process that is just being reaped is busy for some ms. */
const REMOVE_ATTEMPTS = 50;
const REMOVE_PAUSE_MS = 20;

export async function writeSettings(
  files: GroupFiles,
  folder: string,
  settings: GroupSettings,
): Promise<void> {
  for (const { file, value, optional } of settings) {
    try {
      await files.writeFile(join(folder, file), value);
    } catch (error) {
      // A group lets nobody make files: one that is missing is refused, not made.
      const { code } = error as NodeJS.ErrnoException;
      if (optional !== true || (code !== 'ENOENT' && code !== 'EACCES')) throw error;
    }
  }
}

/** Removes a group without groups in it; its processes have to be gone. One that is not there is fine. */
export async function removeGroup(
  path: string,
  { files, clock }: Pick<GroupMeans, 'files' | 'clock'>,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await files.rmdir(path);
      return;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return;
      if (code !== 'EBUSY' || attempt === REMOVE_ATTEMPTS) throw error;
      await clock.sleep(REMOVE_PAUSE_MS);
    }
  }
}

/**
 * Removes groups `<prefix><pid>…` whose maker does not live any more: it was killed outright. One that
 * still holds processes stays, for the next to try.
 */
export async function removeLeftovers(
  folder: string,
  prefix: string,
  means: GroupMeans,
): Promise<void> {
  for (const name of await means.files.folders(folder)) {
    const pid = name.startsWith(prefix)
      ? Number.parseInt(name.slice(prefix.length), 10)
      : Number.NaN;
    if (!Number.isInteger(pid) || means.isAlive(pid)) continue;
    await removeTree(join(folder, name), means).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== 'EBUSY') throw error;
    });
  }
}

/** Removes a group with all groups in it. */
export async function removeTree(
  path: string,
  means: Pick<GroupMeans, 'files' | 'clock'>,
): Promise<void> {
  for (const name of await foldersOf(path, means.files)) await removeTree(join(path, name), means);
  await removeGroup(path, means);
}

async function foldersOf(path: string, files: GroupFiles): Promise<readonly string[]> {
  try {
    return await files.folders(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { TachographError } from '#kernel/core/errors.ts';
import { makePrivateFolder } from './private-folder.ts';

/** Held by one cluster at a time for its data folder. */
export interface ClusterLock {
  release(): void;
}

const FILE = 'cluster.lock';
/** SQLite's "database is locked". */
const SQLITE_BUSY = 5;

/**
 * Takes the data folder's lock; throws CLUSTER_LOCKED with the holder's process id.
 *
 * The lock is SQLite's write lock on a small file, which the operating system gives back when the
 * process ends in any way: there is no stale lock to detect, no process id to guess about, and no
 * moment in which two can win. Readers are not kept out, so the holder's id can be read.
 */
export async function takeClusterLock(folder: string, pid: number): Promise<ClusterLock> {
  await makePrivateFolder(folder);
  const path = join(folder, FILE);
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    lockFor(database, folder, pid);
    assertSameFile(path, folder, pid);
  } catch (error) {
    database.close();
    throw error;
  }
  let held = true;
  return {
    release: () => {
      if (!held) return;
      held = false;
      // First the name, then the lock: whoever opens the name from now on gets a file of its own.
      rmSync(path, { force: true });
      database.close();
    },
  };
}

/** Writes who holds it, then takes the write lock for good. */
function lockFor(database: DatabaseSync, folder: string, pid: number): void {
  try {
    database.exec('BEGIN IMMEDIATE');
    database.exec('CREATE TABLE IF NOT EXISTS holder (id INTEGER PRIMARY KEY, pid INTEGER)');
    database.prepare('INSERT OR REPLACE INTO holder VALUES (1, ?)').run(pid);
    database.exec('COMMIT; BEGIN IMMEDIATE');
  } catch (error) {
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error;
    throw lockedError(folder, holderOf(database), error);
  }
}

/** Between opening and locking, the last holder may have removed the name: then the lock is of no use. */
function assertSameFile(path: string, folder: string, pid: number): void {
  using current = new DatabaseSync(path, { timeout: 0 });
  const holder = holderOf(current);
  if (holder !== pid) throw lockedError(folder, holder);
}

function holderOf(database: DatabaseSync): number | undefined {
  try {
    const row = database.prepare('SELECT pid FROM holder WHERE id = 1').get();
    return row === undefined ? undefined : Number(row['pid']);
  } catch (error) {
    // Not written yet by a holder that is just starting.
    if (error instanceof Error && /no such table|locked/.test(error.message)) return undefined;
    throw error;
  }
}

const lockedError = (folder: string, pid: number | undefined, cause?: unknown): TachographError =>
  new TachographError('CLUSTER_LOCKED', { folder, pid: pid ?? 'unknown' }, { cause });

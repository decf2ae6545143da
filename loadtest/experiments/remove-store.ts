import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { RUN_FOLDER } from '#loadtest/results/result-folder.ts';

/** Removes store and streams of a run's own cluster; its logs stay. */
export async function removeStore(folder: string): Promise<void> {
  for (const name of ['nats', 'store.db', 'store.db-wal', 'store.db-shm']) {
    await rm(join(folder, RUN_FOLDER, name), { recursive: true, force: true });
  }
}

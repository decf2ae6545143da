import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ColdStartRow, ReplicaRow } from '#infra/local/cluster-records.ts';
import { silentLog } from '#kernel/system/log.ts';
import { systemClock } from '#kernel/system/system-clock.ts';
import type { PoolOptions, PoolWorkload } from '../pool-workload.ts';
import { ProcessPool } from '../process-pool.ts';
import { spawnProcess } from '../spawn-process.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));

/** A pool of real processes that run the faulty stage. `close` ends them all. */
export function realPool(over: Partial<PoolOptions> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'tachograph-pool-'));
  const rows: ReplicaRow[] = [];
  const coldStarts: ColdStartRow[] = [];
  const pool = new ProcessPool({
    clock: systemClock,
    log: silentLog,
    readyWithinMs: 20_000,
    drainMs: 5_000,
    startSlots: 2,
    socketFolder: folder,
    onReplica: () => {},
    onRow: (row) => rows.push(row),
    onColdStart: (row) => coldStarts.push(row),
    ...over,
  });
  const workload = (
    name: string,
    fault: string,
    more: Partial<PoolWorkload> = {},
  ): PoolWorkload => ({
    name,
    logPath: join(folder, `${name}.log`),
    start: ({ socketPath, joinFiles, place }) => {
      const env = {
        FAULT: fault,
        PATH: process.env['PATH'] ?? '',
        ...(socketPath === null ? {} : { LISTEN_SOCKET: socketPath }),
      };
      const logPath = join(folder, `${name}-${place}.log`);
      const entry = 'infra/local/fixtures/faulty/stage.ts';
      return spawnProcess({ entry, root, env, logPath, joinFiles });
    },
    ...more,
  });
  const close = async (): Promise<void> => {
    await pool.stopAll();
    rmSync(folder, { recursive: true, force: true });
  };
  return { pool, workload, rows, coldStarts, folder, close };
}

import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { isAlive } from './is-alive.ts';
import { must } from '#kernel/core/assert.ts';
import { silentLog } from '#kernel/system/log.ts';
import { systemClock } from '#kernel/system/system-clock.ts';
import { openReplicas } from './open-replicas.ts';
import { spawnProcess } from './spawn-process.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

test('openReplicas gives a pool on nodes, in groups where they are permitted; stop leaves nothing', async () => {
  const tempDir = mkdtempSync(join(tmpdir(), 'tachograph-open-'));
  const phases: string[] = [];
  const groupFolders = new Set<string>();
  const replicas = await openReplicas({
    pid: process.pid,
    platform: process.platform,
    cores: 2,
    tempDir,
    clock: systemClock,
    originMs: systemClock.monotonicMs(),
    log: silentLog,
    readyWithinMs: 20_000,
    drainMs: 5_000,
    onReplica: () => {},
    nodes: {
      count: 1,
      cpuMillis: 1_000,
      addNodeMs: 0,
      onRow: ({ node, phase }) => phases.push(`${node} ${phase}`),
    },
  });
  const { pool, enforcement } = replicas;
  pool.add({
    name: 'export',
    logPath: join(tempDir, 'export.log'),
    start: ({ socketPath, joinFiles }) => {
      for (const file of joinFiles) groupFolders.add(dirname(dirname(dirname(file))));
      const env = { LISTEN_SOCKET: must(socketPath, 'a socket path') };
      const logPath = join(tempDir, 'export.log');
      const entry = 'infra/local/fixtures/faulty/stage.ts';
      return spawnProcess({ entry, root, env, logPath, joinFiles });
    },
  });
  pool.scale('export', 1, { decidedMs: 0, requestedMs: null });
  await pool.untilReady('export');
  const [replica] = pool.status()[0]?.replicas ?? [];
  expect(replica).toMatchObject({ phase: 'ready', node: 'node-1' });
  expect(phases).toEqual(['node-1 available']);
  expect(groupFolders.size > 0).toBe(enforcement.cpu !== 'none' || enforcement.memory === 'cgroup');
  await Promise.all([replicas.stop(), replicas.stop()]);
  expect(isAlive(must(replica?.pid, 'its process'))).toBe(false);
  expect(readdirSync(tempDir)).toEqual(['export.log']);
  expect([...groupFolders].filter((folder) => existsSync(folder))).toEqual([]);
  rmSync(tempDir, { recursive: true });
});

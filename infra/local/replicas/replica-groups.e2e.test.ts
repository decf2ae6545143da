import { existsSync, readFileSync } from 'node:fs';
import { afterAll, afterEach, expect, test } from 'vitest';
import { isAlive } from './is-alive.ts';
import { until } from '#infra/local/testing/processes.ts';
import { must } from '#kernel/core/assert.ts';
import { silentLog } from '#kernel/system/log.ts';
import { systemClock } from '#kernel/system/system-clock.ts';
import { LocalNodes } from './local-nodes.ts';
import type { ReplicaResources } from './pool-workload.ts';
import { openReplicaGroups } from './replica-groups.ts';
import { NOBODY_WAITS } from './testing/fake-pool.ts';
import { realPool } from './testing/real-pool.ts';

const groups = await openReplicaGroups({
  pid: process.pid,
  platform: process.platform,
  cores: 2,
  clock: systemClock,
  isAlive,
});
const { cpu, memory, why } = groups.enforcement;
const unenforced = cpu === 'none' ? ` (skipped, CPU is not enforced here: ${why})` : '';
const unlimited = memory === 'cgroup' ? '' : ` (skipped, memory is not limited here: ${why})`;

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});
afterAll(async () => {
  await groups.close();
  expect(groups.folders.filter((folder) => existsSync(folder))).toEqual([]);
});
const newPool: typeof realPool = (over) => {
  const one = realPool({ groups, ...over });
  open.push(one);
  return one;
};

const resources = (asked: Partial<ReplicaResources>): ReplicaResources => ({
  cpuRequestMillis: null,
  cpuLimitMillis: null,
  memoryRequestBytes: null,
  memoryLimitBytes: null,
  ...asked,
});

/** CPU use over the metric window, once there is enough of it for the start not to matter. */
const steadyMillis = (pool: ReturnType<typeof realPool>['pool']) =>
  until(() => {
    const [pod] = pool.observe('export');
    const [usage] = pool.usage('export');
    return usage !== undefined && usage.cpuMs > 700 ? pod?.cpuMillis : undefined;
  });

test.skipIf(unenforced !== '')(
  `a replica that burns CPU gets its quota and no more${unenforced}`,
  async () => {
    const { pool, workload } = newPool();
    pool.add(workload('export', 'burn', { resources: resources({ cpuLimitMillis: 200 }) }));
    pool.scale('export', 1, NOBODY_WAITS);
    // One that is not held gets most of a core, or half of one where others work too.
    expect(await steadyMillis(pool)).toBeLessThan(300);
  },
);

test.skipIf(unenforced !== '')(
  `a node holds all its replicas to its share${unenforced}`,
  async () => {
    const nodes = await LocalNodes.open({
      count: 1,
      cpuMillis: 200,
      addNodeMs: 0,
      clock: systemClock,
      originMs: 0,
      log: silentLog,
      groups,
    });
    const { pool, workload } = newPool({ nodes });
    pool.add(workload('export', 'burn', { resources: resources({ cpuLimitMillis: 900 }) }));
    pool.scale('export', 2, NOBODY_WAITS);
    pool.observeNodes();
    await steadyMillis(pool);
    expect(pool.observeNodes()[0]?.utilisation).toBeLessThan(1.5);
    await pool.stop(['export']);
    nodes.setNodes(0);
    await until(() => !existsSync(`${must(groups.folders[0], 'a root')}/node-1`));
  },
);

test.skipIf(unlimited !== '')(
  `the kernel ends a replica that leaks, and it is told as that${unlimited}`,
  async () => {
    const { pool, workload, rows } = newPool();
    const asked = resources({ memoryLimitBytes: 268_435_456 });
    pool.add(workload('export', 'leak', { resources: asked }));
    pool.scale('export', 1, NOBODY_WAITS);
    const row = await until(() => rows.find(({ phase }) => phase === 'backoff'));
    expect(row.why).toBe('memory limit');
  },
);

test.skipIf(unenforced !== '')(
  `the group of a replica is gone with it, and weighs what it requested${unenforced}`,
  async () => {
    const { pool, workload } = newPool();
    pool.add(workload('export', '', { resources: resources({ cpuRequestMillis: 500 }) }));
    pool.scale('export', 1, NOBODY_WAITS);
    await pool.untilReady('export');
    const folder = `${must(groups.folders[0], 'a root')}/export-0`;
    const pid = must(pool.status()[0]?.replicas[0]?.pid, 'its process');
    expect(readFileSync(`${folder}/cgroup.procs`, 'utf8')).toBe(`${pid}\n`);
    const [file, value] = cpu === 'cgroup v1' ? ['cpu.shares', '512\n'] : ['cpu.weight', '20\n'];
    expect(readFileSync(`${folder}/${file}`, 'utf8')).toBe(value);
    await pool.stop(['export']);
    expect(existsSync(folder)).toBe(false);
  },
);

test('what is enforced is reported, with where or why not', () => {
  expect(['cgroup v1', 'cgroup v2', 'none']).toContain(cpu);
  expect(['cgroup', 'watched', 'none']).toContain(memory);
  expect(why).not.toBe('');
});

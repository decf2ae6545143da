import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { isAlive } from './is-alive.ts';
import { until } from '#infra/local/testing/processes.ts';
import { must } from '#kernel/core/assert.ts';
import { silentLog } from '#kernel/system/log.ts';
import { OrphanGuard } from './orphan-guard.ts';
import type { ProcessRequest } from './spawn-process.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'tachograph-guard-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Stands for a cgroup with groups in it, and for a folder of sockets. */
const newGroup = (name: string): string => {
  mkdirSync(join(folder, name, 'node-1', 'export-0'), { recursive: true });
  writeFileSync(join(folder, name, 'export-0.1.sock'), '');
  return join(folder, name);
};

test('a stage that hangs does not outlive a parent that is killed, nor do its groups', async () => {
  const group = newGroup('killed');
  const request: ProcessRequest = {
    entry: 'infra/local/fixtures/faulty/stage.ts',
    root,
    env: { FAULT: 'hang' },
    logPath: join(folder, 'hang.log'),
  };
  const parent = fork(fileURLToPath(new URL('testing/guarded-parent.ts', import.meta.url)), [
    group,
    JSON.stringify(request),
  ]);
  const [pids] = (await once(parent, 'message')) as [{ child: number; guard: number }];
  expect([isAlive(pids.child), isAlive(pids.guard)]).toEqual([true, true]);
  parent.kill('SIGKILL');
  await until(() => !isAlive(pids.child));
  await until(() => !isAlive(pids.guard));
  expect(existsSync(group)).toBe(false);
});

test('a guard that is closed ends, and touches no process that it was told is gone', async () => {
  const children = Array.from({ length: 3 }, () =>
    spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true }),
  );
  const pids = children.map(({ pid }) => must(pid, 'a process'));
  const guard = new OrphanGuard({ graceS: 0, folders: [], log: silentLog });
  for (const pid of pids) guard.add(pid);
  guard.remove(must(pids[1], 'the second'));
  guard.remove(4_000_000);
  await guard.close();
  await guard.close();
  await until(() => pids.filter(isAlive).length === 1);
  expect(isAlive(must(pids[1], 'the second'))).toBe(true);
  children[1]?.kill('SIGKILL');
  expect(isAlive(must(guard.pid, 'the guard'))).toBe(false);
});

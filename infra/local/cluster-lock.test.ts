import { fork } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { takeClusterLock } from './cluster-lock.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tachograph-lock-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('takeClusterLock of a free folder holds it; a second one is told who does', async () => {
  const lock = await takeClusterLock(folder, 41);
  await expect(takeClusterLock(folder, 42)).rejects.toMatchObject({
    code: 'CLUSTER_LOCKED',
    fields: { folder, pid: 41 },
  });
  lock.release();
});

test('ClusterLock.release gives the folder back and leaves no file; again it does nothing', async () => {
  const lock = await takeClusterLock(folder, 41);
  lock.release();
  lock.release();
  expect(existsSync(join(folder, 'cluster.lock'))).toBe(false);
  (await takeClusterLock(folder, 42)).release();
});

test('takeClusterLock makes the folder where it is missing', async () => {
  const inner = join(folder, 'a', 'b');
  (await takeClusterLock(inner, 41)).release();
  expect(existsSync(inner)).toBe(true);
});

test('of many that take the lock at once exactly one has it', async () => {
  const attempts = Array.from({ length: 20 }, (_, index) => takeClusterLock(folder, index));
  const results = await Promise.allSettled(attempts);
  const won = results.filter((result) => result.status === 'fulfilled');
  expect(won).toHaveLength(1);
  won[0]?.value.release();
});

test('takeClusterLock of a folder whose holder was killed takes it', async () => {
  const holder = fork(fileURLToPath(new URL('testing/lock-holder.ts', import.meta.url)), [folder]);
  await new Promise((resolve) => holder.once('message', resolve));
  await expect(takeClusterLock(folder, 1)).rejects.toMatchObject({ fields: { pid: holder.pid } });
  holder.kill('SIGKILL');
  await new Promise((resolve) => holder.once('exit', resolve));
  (await takeClusterLock(folder, 2)).release();
});

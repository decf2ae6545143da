import { fork } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { spawnProcess, type ProcessRequest } from './spawn-process.ts';
import { isAlive } from './is-alive.ts';
import { until } from '#infra/local/testing/processes.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tachograph-spawn-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const request = (entry: string): ProcessRequest => ({
  entry: `infra/local/fixtures/${entry}`,
  root,
  env: { PORT: '0' },
  logPath: join(folder, `${entry.replaceAll('/', '-')}.log`),
});

test('spawnProcess gives the port that the process listens on and ends it on SIGTERM', async () => {
  const child = spawnProcess(request('pipeline/stage.ts'));
  const { address } = await child.listening;
  expect(address).toEqual({ port: expect.any(Number) });
  child.signal('SIGTERM');
  expect(await child.ended).toEqual({ code: 0, signal: null });
  // A signal to a process that has gone is no error.
  child.signal('SIGKILL');
});

test('spawnProcess gives the socket, and what the process says of its start', async () => {
  const asked = request('faulty/stage.ts');
  const socketPath = join(folder, 'a.sock');
  const child = spawnProcess({ ...asked, env: { LISTEN_SOCKET: socketPath } });
  const { address, timings } = await child.listening;
  expect(address).toEqual({ socketPath });
  expect(timings?.listeningMs).toBeGreaterThan(timings?.originMs ?? Infinity);
  child.signal('SIGTERM');
  await child.ended;
});

test('spawnProcess lets the process join groups; one that cannot is ended with the reason', async () => {
  const asked = request('pipeline/stage.ts');
  const joined = join(folder, 'procs');
  const child = spawnProcess({ ...asked, joinFiles: [joined] });
  await child.listening;
  child.signal('SIGKILL');
  await child.ended;
  expect(readFileSync(joined, 'utf8')).toBe(String(child.pid));
  const missing = join(folder, 'no such group', 'cgroup.procs');
  const { signal, error } = await spawnProcess({ ...asked, joinFiles: [missing] }).ended;
  expect(signal).toBe('SIGKILL');
  expect(error?.message).toMatch(/^it could not join its group: ENOENT/);
});

test('spawnProcess keeps what the process writes, and tells its exit code', async () => {
  const asked = request('broken/stage.ts');
  expect(await spawnProcess(asked).ended).toEqual({ code: 9, signal: null });
  expect(readFileSync(asked.logPath, 'utf8')).toBe('this stage is broken\n');
});

test.skipIf(!existsSync('/dev/full'))(
  'spawnProcess of a process whose log takes nothing runs it to its end',
  async () => {
    const asked = { ...request('broken/stage.ts'), logPath: '/dev/full' };
    expect(await spawnProcess(asked).ended).toEqual({ code: 9, signal: null });
  },
);

test('spawnProcess starts a process group of its own, which ends as a whole', async () => {
  const asked = request('family/stage.ts');
  const child = spawnProcess(asked);
  await child.listening;
  const grandchild = Number(readFileSync(asked.logPath, 'utf8'));
  expect(isAlive(grandchild)).toBe(true);
  child.signal('SIGKILL');
  expect(await child.ended).toEqual({ code: null, signal: 'SIGKILL' });
  await until(() => !isAlive(grandchild));
});

test('a spawned process ends by itself when its parent is killed', async () => {
  const parent = fork(fileURLToPath(new URL('testing/spawning-parent.ts', import.meta.url)), [
    JSON.stringify(request('pipeline/stage.ts')),
  ]);
  const pid = await new Promise<number>((resolve) => parent.once('message', resolve as () => void));
  expect(isAlive(pid)).toBe(true);
  parent.kill('SIGKILL');
  await until(() => !isAlive(pid));
});

import { expect, test } from 'vitest';
import { must } from '#kernel/core/assert.ts';
import { VirtualClock } from '#kernel/core/clock.ts';
import { silentLog } from '#kernel/system/log.ts';
import { Replica, type ReplicaPhase } from './replica.ts';
import { RESTART_POLICY } from './restart-policy.ts';
import { FakeProcess, settled } from './testing/fake-process.ts';

function launch() {
  const clock = new VirtualClock();
  const children: FakeProcess[] = [];
  const phases: ReplicaPhase[] = [];
  const replica = new Replica({
    name: 'export-0',
    start: () => {
      const child = new FakeProcess(100 + children.length);
      children.push(child);
      return child;
    },
    clock,
    log: silentLog,
    policy: RESTART_POLICY,
    readyWithinMs: 5_000,
    drainMs: 2_000,
    onChange: ({ status }) => phases.push(status.phase),
  });
  const last = (): FakeProcess => must(children.at(-1), 'a started process');
  return { clock, children, phases, replica, last };
}

test('Replica is ready when its process listens, and gives its port', async () => {
  const { replica, last } = launch();
  expect(replica.status).toMatchObject({ phase: 'launching', pid: 100, port: undefined });
  last().listen(4711);
  await settled();
  expect(replica.status).toMatchObject({ phase: 'ready', pid: 100, port: 4711, restarts: 0 });
});

test('Replica starts a crashed process again after growing waits', async () => {
  const { clock, children, replica, last } = launch();
  for (const [waitMs, starts] of [
    [250, 2],
    [500, 3],
    [1_000, 4],
  ] as const) {
    last().end(7);
    await settled();
    expect(replica.status).toMatchObject({ phase: 'backoff', pid: undefined, port: undefined });
    await clock.advance(waitMs - 1);
    await settled();
    expect(children).toHaveLength(starts - 1);
    await clock.advance(1);
    await settled();
    expect(children).toHaveLength(starts);
  }
  expect(replica.status).toMatchObject({ restarts: 3, lastEnd: 'exit code 7' });
});

test('Replica that was ready for long waits the first delay again', async () => {
  const { clock, children, last } = launch();
  last().end(1);
  await settled();
  await clock.advance(250);
  await settled();
  last().listen(1);
  await settled();
  await clock.advance(30_000);
  last().end(1);
  await settled();
  await clock.advance(250);
  await settled();
  expect(children).toHaveLength(3);
});

test('Replica kills a process that does not listen in time and counts it as crashed', async () => {
  const { clock, replica, last } = launch();
  await clock.advance(5_000);
  await settled();
  expect(last().signals).toEqual(['SIGKILL']);
  expect(replica.status).toMatchObject({
    phase: 'backoff',
    lastEnd: 'not ready within 5000 ms',
  });
});

test('Replica whose program cannot be started says why and tries again', async () => {
  const { clock, children, replica, last } = launch();
  last().fail('spawn ENOENT');
  await settled();
  expect(replica.status).toMatchObject({ phase: 'backoff', lastEnd: 'spawn ENOENT' });
  await clock.advance(250);
  await settled();
  expect(children).toHaveLength(2);
});

test('Replica.stop asks, and resolves when the process is gone; it is not started again', async () => {
  const { clock, children, phases, replica, last } = launch();
  last().listen(1);
  await settled();
  await replica.stop();
  await replica.stop();
  expect(last().signals).toEqual(['SIGTERM']);
  expect(phases).toEqual(['launching', 'ready', 'draining', 'gone']);
  await clock.advance(60_000);
  expect(children).toHaveLength(1);
});

test('Replica.stop kills a process that does not stop within the grace time', async () => {
  const { clock, replica, last } = launch();
  last().ignoresSigterm = true;
  last().listen(1);
  await settled();
  const stopped = replica.stop();
  await settled();
  await clock.advance(1_999);
  await settled();
  expect(last().signals).toEqual(['SIGTERM']);
  await clock.advance(1);
  await stopped;
  expect(last().signals).toEqual(['SIGTERM', 'SIGKILL']);
});

test('Replica.stop while it launches or waits ends it at once and leaves no timer', async () => {
  const launching = launch();
  await launching.replica.stop();
  expect(launching.last().signals).toEqual(['SIGTERM']);
  expect(launching.clock.sleeping).toBe(0);
  const waiting = launch();
  waiting.last().end(1);
  await settled();
  await waiting.replica.stop();
  expect(waiting.children).toHaveLength(1);
  expect(waiting.clock.sleeping).toBe(0);
  expect(waiting.replica.status.phase).toBe('gone');
});

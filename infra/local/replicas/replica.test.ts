import { expect, test } from 'vitest';
import type { ReplicaAddress } from '#infra/local/data-path/replica-address.ts';
import { must } from '#kernel/core/assert.ts';
import { VirtualClock } from '#kernel/core/clock.ts';
import { silentLog } from '#kernel/system/log.ts';
import { Replica, type ReplicaOptions } from './replica.ts';
import { RESTART_POLICY } from './restart-policy.ts';
import { StartSlots } from './start-slots.ts';
import { FakeProcess, settled } from './testing/fake-process.ts';

async function launch(over: Partial<ReplicaOptions> = {}) {
  const clock = new VirtualClock();
  const children: FakeProcess[] = [];
  const phases: string[] = [];
  const addresses: (ReplicaAddress | undefined)[] = [];
  const slots = new StartSlots(1);
  const replica = new Replica({
    name: 'export-0',
    prepare: async () => {},
    start: () => {
      const child = new FakeProcess(100 + children.length);
      children.push(child);
      return child;
    },
    explainEnd: async () => null,
    beforeStop: async () => {},
    lastLook: async () => {},
    slots,
    clock,
    log: silentLog,
    policy: RESTART_POLICY,
    readyWithinMs: 5_000,
    maxSlotMs: 1_000,
    onPhase: (phase, why) => phases.push(why === null ? phase : `${phase}: ${why}`),
    onAddress: (address) => addresses.push(address),
    ...over,
  });
  await settled();
  const last = (): FakeProcess => must(children.at(-1), 'a started process');
  const listen = async (): Promise<void> => {
    last().listen(4711);
    await settled();
  };
  return { clock, children, phases, addresses, replica, last, listen, slots };
}

test('Replica is ready when its process listens, and gives its address', async () => {
  const { replica, phases, addresses, listen } = await launch();
  expect([replica.phase, replica.pid, replica.address]).toEqual(['launching', 100, undefined]);
  await listen();
  expect([replica.phase, replica.pid, replica.restarts]).toEqual(['ready', 100, 0]);
  expect(phases).toEqual(['pending', 'launching', 'ready']);
  expect(addresses).toEqual([{ port: 4711 }]);
});

test('Replica marks the moments of its start, and keeps what the process says of it', async () => {
  const timings = { originMs: 1, bootedMs: 2, loadedMs: 3, listeningMs: 4 };
  const preparing = Promise.withResolvers<void>();
  const { clock, replica, last } = await launch({ prepare: () => preparing.promise });
  await clock.advance(70);
  preparing.resolve();
  await settled();
  await clock.advance(30);
  last().listen({ socketPath: '/s' }, timings);
  await settled();
  expect(replica.marks).toEqual({ slotMs: 70, spawnedMs: 70, readyMs: 100, timings });
});

test('Replica starts a crashed process again after growing waits', async () => {
  const { clock, children, replica, last } = await launch();
  for (const [waitMs, starts] of [
    [250, 2],
    [500, 3],
    [1_000, 4],
  ] as const) {
    last().end(7);
    await settled();
    expect([replica.phase, replica.pid, replica.address]).toEqual([
      'backoff',
      undefined,
      undefined,
    ]);
    await clock.advance(waitMs - 1);
    expect(children).toHaveLength(starts - 1);
    await clock.advance(1);
    await settled();
    expect(children).toHaveLength(starts);
  }
  expect([replica.restarts, replica.lastEnd]).toEqual([3, 'exit code 7']);
});

test('Replica that was ready for long waits the first delay again', async () => {
  const { clock, children, last, listen, addresses } = await launch();
  last().end(1);
  await settled();
  await clock.advance(250);
  await settled();
  await listen();
  await clock.advance(30_000);
  last().end(1);
  await settled();
  expect(addresses).toEqual([{ port: 4711 }, undefined]);
  await clock.advance(250);
  await settled();
  expect(children).toHaveLength(3);
});

test('Replica kills a process that does not listen in time and counts it as crashed', async () => {
  const { clock, replica, last, phases } = await launch();
  await clock.advance(5_000);
  await settled();
  expect(last().signals).toEqual(['SIGKILL']);
  expect(replica.lastEnd).toBe('not ready within 5000 ms');
  expect(phases.at(-1)).toBe('backoff: not ready within 5000 ms');
});

test('Replica gives its slot back when it is ready, ends, or takes too long', async () => {
  const ready = await launch();
  expect(ready.slots.taken).toBe(1);
  await ready.listen();
  expect(ready.slots.taken).toBe(0);
  const ended = await launch();
  ended.last().end(1);
  await settled();
  expect(ended.slots.taken).toBe(0);
  const slow = await launch();
  await slow.clock.advance(999);
  expect(slow.slots.taken).toBe(1);
  await slow.clock.advance(1);
  expect(slow.slots.taken).toBe(0);
  expect(slow.replica.phase).toBe('launching');
});

test('Replica waits for a slot, and stops waiting when it is stopped', async () => {
  const slots = new StartSlots(1);
  const release = await slots.acquire(new AbortController().signal);
  const { replica, children, phases } = await launch({ slots });
  expect([replica.phase, children.length, slots.waiting]).toEqual(['pending', 0, 1]);
  await replica.stop(2_000);
  expect([phases, slots.waiting]).toEqual([['pending', 'gone'], 0]);
  release();
  expect(slots.taken).toBe(0);
});

test('Replica whose program cannot be started says why and tries again', async () => {
  const { clock, children, replica, last } = await launch();
  last().fail('spawn ENOENT');
  await settled();
  expect([replica.phase, replica.lastEnd]).toEqual(['backoff', 'spawn ENOENT']);
  await clock.advance(250);
  await settled();
  expect(children).toHaveLength(2);
});

test('Replica whose preparation fails tries that again; done once, it is done', async () => {
  let tries = 0;
  const { clock, children, replica, last } = await launch({
    prepare: async () => {
      tries += 1;
      if (tries === 1) throw new Error('ENOSPC');
    },
  });
  expect([replica.phase, replica.lastEnd, children.length]).toEqual(['backoff', 'ENOSPC', 0]);
  await clock.advance(250);
  await settled();
  expect(children).toHaveLength(1);
  last().end(1);
  await settled();
  await clock.advance(500);
  await settled();
  expect([children.length, tries]).toEqual([2, 2]);
});

test('Replica names an end by what is known of it besides the signal', async () => {
  const { last, replica } = await launch({ explainEnd: async () => 'memory limit' });
  last().signal('SIGKILL');
  await settled();
  expect(replica.lastEnd).toBe('memory limit');
});

test('Replica.kill ends the process as a crash with its reason', async () => {
  const { last, replica, listen, clock, children, phases } = await launch();
  await listen();
  replica.kill('memory limit');
  replica.kill('another reason');
  await settled();
  expect(last().signals).toEqual(['SIGKILL']);
  expect(phases.at(-1)).toBe('backoff: memory limit');
  // Without a process there is nothing to kill.
  replica.kill('too late');
  await clock.advance(250);
  await settled();
  expect([children.length, replica.lastEnd]).toEqual([2, 'memory limit']);
});

test('Replica.stop asks, and resolves when the process is gone; it is not started again', async () => {
  const { clock, children, phases, replica, last, listen } = await launch();
  await listen();
  await replica.stop(2_000, 'its node was removed');
  await replica.stop(2_000);
  expect(last().signals).toEqual(['SIGTERM']);
  expect(phases).toEqual([
    'pending',
    'launching',
    'ready',
    'draining: its node was removed',
    'gone: its node was removed',
  ]);
  await clock.advance(60_000);
  expect([children.length, clock.sleeping]).toEqual([1, 0]);
});

test('Replica.stop keeps the address until its requests are done, then looks a last time', async () => {
  const done = Promise.withResolvers<void>();
  const looks: string[] = [];
  const { replica, last, listen, addresses } = await launch({
    beforeStop: () => done.promise,
    lastLook: async () => void looks.push(last().signals.join()),
  });
  await listen();
  const stopped = replica.stop(10_000);
  await settled();
  expect([replica.phase, replica.address, last().signals]).toEqual([
    'draining',
    { port: 4711 },
    [],
  ]);
  done.resolve();
  await stopped;
  expect(addresses).toEqual([{ port: 4711 }, undefined]);
  expect([looks, last().signals]).toEqual([[''], ['SIGTERM']]);
});

test('Replica.stop asks the process when the grace time for its requests is over', async () => {
  const { clock, replica, last, listen } = await launch({
    beforeStop: () => new Promise(() => {}),
  });
  await listen();
  const stopped = replica.stop(3_000);
  await clock.advance(2_999);
  expect(last().signals).toEqual([]);
  await clock.advance(1);
  await stopped;
  expect(last().signals).toEqual(['SIGTERM']);
});

test('Replica.stop goes on when nobody knows its requests', async () => {
  const { replica, last, listen } = await launch({
    beforeStop: () => Promise.reject(new Error('no such replica')),
  });
  await listen();
  await replica.stop(3_000);
  expect(last().signals).toEqual(['SIGTERM']);
});

test('Replica.stop kills a process that does not stop within the grace time', async () => {
  const { clock, replica, last, listen, phases } = await launch();
  await listen();
  last().ignoresSigterm = true;
  const stopped = replica.stop(3_000);
  await clock.advance(2_999);
  expect(last().signals).toEqual(['SIGTERM']);
  await clock.advance(1);
  await stopped;
  expect(last().signals).toEqual(['SIGTERM', 'SIGKILL']);
  expect(phases.at(-1)).toBe('gone: it did not stop in time and was killed');
});

test('a process has 2 s from SIGTERM, also when its requests took the whole grace time', async () => {
  const { clock, replica, last, listen } = await launch({
    beforeStop: () => new Promise(() => {}),
  });
  await listen();
  last().ignoresSigterm = true;
  const stopped = replica.stop(1_000);
  await clock.advance(2_999);
  expect(last().signals).toEqual(['SIGTERM']);
  await clock.advance(1);
  await stopped;
  expect(last().signals).toEqual(['SIGTERM', 'SIGKILL']);
});

test('Replica.stop called again with less patience: the shorter grace time counts', async () => {
  const { clock, replica, last, listen } = await launch();
  await listen();
  last().ignoresSigterm = true;
  const patient = replica.stop(300_000);
  await clock.advance(5_000);
  const impatient = replica.stop(1_000);
  await clock.advance(1_000);
  await Promise.all([patient, impatient]);
  expect(last().signals).toEqual(['SIGTERM', 'SIGKILL']);
  expect(clock.sleeping).toBe(0);
});

test('Replica.stop while it launches or waits ends it at once and leaves no timer', async () => {
  const launching = await launch();
  await launching.replica.stop(2_000);
  expect(launching.last().signals).toEqual(['SIGTERM']);
  expect([launching.clock.sleeping, launching.slots.taken]).toEqual([0, 0]);
  const waiting = await launch();
  waiting.last().end(1);
  await settled();
  await waiting.replica.stop(2_000);
  expect(waiting.children).toHaveLength(1);
  expect(waiting.clock.sleeping).toBe(0);
  expect(waiting.replica.phase).toBe('gone');
  const preparing = await launch({
    prepare: (signal) =>
      new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error)),
      ),
  });
  await preparing.replica.stop(2_000);
  expect(preparing.phases).toEqual(['pending', 'gone']);
});

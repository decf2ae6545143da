import { expect, test } from 'vitest';
import { VirtualClock } from '../core/clock.ts';
import { BurstQueue, type BurstServer } from './burst-queue.ts';
import type { BurstReport } from './demand.ts';
import type { BurstRequest } from './burner.ts';

const request = (ms: number): BurstRequest => ({ kind: 'cpuTime', place: 'before', ms });
const live = (): AbortSignal => new AbortController().signal;

/** Takes the nominal time in virtual time. Fails for a burst of 666 ms. */
function server(clock: VirtualClock): BurstServer & { closed: boolean } {
  const self = {
    closed: false,
    burn: async ({ ms }: BurstRequest) => {
      await clock.sleep(ms);
      if (ms === 666) throw new Error('broken');
      return { nominal: ms } as BurstReport;
    },
    close: async () => void (self.closed = true),
  };
  return self;
}

function queueOf(servers: number, maxQueue: number) {
  const clock = new VirtualClock();
  const all = Array.from({ length: servers }, () => server(clock));
  return { clock, all, queue: new BurstQueue(all, maxQueue, () => clock.monotonicMs()) };
}

test('BurstQueue serves in the order of arrival, as many at once as it has servers', async () => {
  const { clock, queue } = queueOf(2, 10);
  const done: number[] = [];
  const bursts = [30, 20, 40, 5].map(async (ms) => {
    const report = await queue.run(request(ms), live());
    done.push(report?.nominal ?? 0);
    return report?.queuedMs;
  });
  expect(queue.length).toBe(2);
  await clock.advance(100);
  expect(done).toEqual([20, 30, 5, 40]);
  // 40 began when the 20 were over, 5 when the 30 were.
  expect(await Promise.all(bursts)).toEqual([0, 0, 20, 30]);
  expect(queue.length).toBe(0);
});

test('BurstQueue refuses the burst above its bound and says how many wait', async () => {
  const { clock, queue } = queueOf(1, 2);
  const bursts = [1, 2, 3].map((ms) => queue.run(request(ms), live()));
  await expect(queue.run(request(4), live())).rejects.toMatchObject({
    code: 'DEMAND_QUEUE_FULL',
    kind: 'retry',
    fields: { waiting: 2, max: 2 },
  });
  await clock.advance(10);
  expect(await Promise.all(bursts)).toHaveLength(3);
});

test('BurstQueue lets a waiting burst go when its caller does', async () => {
  const { clock, queue } = queueOf(1, 10);
  const leaving = new AbortController();
  const first = queue.run(request(10), live());
  const second = queue.run(request(10), leaving.signal);
  const third = queue.run(request(10), live());
  leaving.abort();
  expect(await second).toBeUndefined();
  expect(queue.length).toBe(1);
  await clock.advance(20);
  expect(await first).toMatchObject({ queuedMs: 0 });
  expect(await third).toMatchObject({ queuedMs: 10 });
});

test('BurstQueue does not begin a burst whose caller has gone already', async () => {
  const { queue } = queueOf(1, 10);
  expect(await queue.run(request(10), AbortSignal.abort())).toBeUndefined();
});

test('BurstQueue uses a server again after a burst that failed', async () => {
  const { clock, queue } = queueOf(1, 10);
  const failing = expect(queue.run(request(666), live())).rejects.toThrow('broken');
  const next = queue.run(request(5), live());
  await clock.advance(700);
  await failing;
  expect(await next).toMatchObject({ nominal: 5 });
});

test('close sends those home who wait', async () => {
  const { clock, queue } = queueOf(1, 10);
  const bursts = [5, 6, 7].map((ms) => queue.run(request(ms), live()));
  await queue.close();
  await clock.advance(20);
  expect(await Promise.all(bursts)).toMatchObject([{ nominal: 5 }, undefined, undefined]);
});

test('close ends every server', async () => {
  const { all, queue } = queueOf(3, 10);
  await queue.close();
  expect(all.map(({ closed }) => closed)).toEqual([true, true, true]);
});

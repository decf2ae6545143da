import { expect, test } from 'vitest';
import { VirtualClock } from '#kernel/core/clock.ts';
import { openLoop } from './open-loop.ts';

const plan = (...times: number[]) => times.map((intendedMs) => ({ intendedMs }));

/** Runs a loop in virtual time; `answer` settles the oldest item under way. */
async function start(times: readonly number[], maxOutstanding = 10) {
  const clock = new VirtualClock();
  const abort = new AbortController();
  const sentAt: number[] = [];
  const waiting: PromiseWithResolvers<void>[] = [];
  const result = openLoop({
    plan: plan(...times),
    send: () => {
      sentAt.push(clock.monotonicMs());
      const answer = Promise.withResolvers<void>();
      waiting.push(answer);
      return answer.promise;
    },
    maxOutstanding,
    startMs: 0,
    clock,
    signal: abort.signal,
  });
  await turn();
  return { clock, abort, sentAt, waiting, settled: (): typeof result => result };
}

/** Lets what was settled run. */
const turn = async (): Promise<void> => {
  for (let count = 0; count < 20; count++) await Promise.resolve();
};

test('openLoop sends at the intended times though nothing is answered', async () => {
  const { clock, sentAt, waiting, settled } = await start([0, 50, 120]);
  await clock.advance(200);
  expect(sentAt).toEqual([0, 50, 120]);
  for (const { resolve } of waiting) resolve();
  expect(await settled()).toEqual({ sent: 3, held: 0 });
});

test('openLoop at the limit of outstanding ones: the next is held back, and it is counted', async () => {
  const { clock, sentAt, waiting, settled } = await start([0, 10, 20], 2);
  await clock.advance(100);
  expect(sentAt).toEqual([0, 10]);
  waiting[0]?.resolve();
  await turn();
  expect(sentAt).toEqual([0, 10, 100]);
  for (const { resolve } of waiting) resolve();
  expect(await settled()).toEqual({ sent: 3, held: 1 });
});

test('openLoop that is aborted: sends no more, waits for what is under way', async () => {
  const { clock, abort, waiting, settled } = await start([0, 1_000]);
  await clock.advance(10);
  abort.abort(new Error('Interrupted'));
  waiting[0]?.resolve();
  expect(await settled()).toEqual({ sent: 1, held: 0 });
});

test('openLoop whose send rejects while it waits for the next: sends no more, rejects', async () => {
  const { clock, sentAt, waiting, settled } = await start([0, 1_000]);
  waiting[0]?.reject(new Error('a bug'));
  await turn();
  const rejected = settled().catch((error: unknown) => error);
  await clock.advance(1_000);
  expect(await rejected).toEqual(new Error('a bug'));
  expect(sentAt).toEqual([0]);
});

test('openLoop whose last send rejects: rejects', async () => {
  const { waiting, settled } = await start([0]);
  waiting[0]?.reject(new Error('a bug'));
  await expect(settled()).rejects.toThrow('a bug');
});

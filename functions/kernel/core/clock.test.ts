import { expect, test } from 'vitest';
import { VirtualClock } from './clock.ts';

test('advance wakes sleepers in the order of their due times', async () => {
  const clock = new VirtualClock(0);
  const order: string[] = [];
  void clock.sleep(20).then(() => order.push(`b@${clock.nowMs()}`));
  void clock.sleep(10).then(() => order.push(`a@${clock.nowMs()}`));
  await clock.advance(15);
  expect(order).toEqual(['a@10']);
  await clock.advance(5);
  expect(order).toEqual(['a@10', 'b@20']);
  expect(clock.monotonicMs()).toBe(20);
});

test('sleep that is aborted rejects and is forgotten', async () => {
  const clock = new VirtualClock(0);
  const stop = new AbortController();
  const asleep = clock.sleep(10, stop.signal);
  stop.abort(new Error('stopped'));
  await expect(asleep).rejects.toThrow('stopped');
  expect(clock.sleeping).toBe(0);
});

test('sleep of no time does not wait', async () => {
  await new VirtualClock(0).sleep(0);
});

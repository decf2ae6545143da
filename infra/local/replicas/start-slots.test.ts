import { expect, test } from 'vitest';
import { StartSlots } from './start-slots.ts';
import { settled } from './testing/fake-process.ts';

const never = new AbortController().signal;

test('StartSlots gives so many at once and hands on in the order of asking', async () => {
  const slots = new StartSlots(2);
  const order: number[] = [];
  const releases: (() => void)[] = [];
  for (const number of [1, 2, 3, 4]) {
    void slots.acquire(never).then((release) => {
      order.push(number);
      releases.push(release);
    });
  }
  await settled();
  expect([order, slots.taken, slots.waiting]).toEqual([[1, 2], 2, 2]);
  releases[1]?.();
  await settled();
  expect([order, slots.taken, slots.waiting]).toEqual([[1, 2, 3], 2, 1]);
  releases[0]?.();
  releases[2]?.();
  await settled();
  releases[3]?.();
  expect([order, slots.taken, slots.waiting]).toEqual([[1, 2, 3, 4], 0, 0]);
});

test('a slot given back twice is one slot', async () => {
  const slots = new StartSlots(1);
  const release = await slots.acquire(never);
  release();
  const second = await slots.acquire(never);
  release();
  expect(slots.taken).toBe(1);
  second();
  expect(slots.taken).toBe(0);
});

test('who gives up waiting leaves the queue and takes no slot', async () => {
  const slots = new StartSlots(1);
  const release = await slots.acquire(never);
  const giveUp = new AbortController();
  const waiting = slots.acquire(giveUp.signal);
  const rejected = expect(waiting).rejects.toThrow('gave up');
  giveUp.abort(new Error('gave up'));
  await rejected;
  expect(slots.waiting).toBe(0);
  release();
  expect(slots.taken).toBe(0);
  await expect(slots.acquire(giveUp.signal)).rejects.toThrow('gave up');
  expect(() => new StartSlots(0)).toThrow('0 start slots');
});

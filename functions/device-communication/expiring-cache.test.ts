import { expect, test } from 'vitest';
import { VirtualClock } from '#kernel/core/clock.ts';
import { ExpiringCache } from './expiring-cache.ts';

const counting = () => {
  let loads = 0;
  return () => Promise.resolve(++loads);
};

test('get within the time to live loads once, at its end anew', async () => {
  const clock = new VirtualClock();
  const cache = new ExpiringCache<number>(clock, 1_000, 10);
  const load = counting();
  expect(await cache.get('a', load)).toBe(1);
  await clock.advance(999);
  expect(await cache.get('a', load)).toBe(1);
  await clock.advance(1);
  expect(await cache.get('a', load)).toBe(2);
});

test('get of many callers at once shares one load', async () => {
  const cache = new ExpiringCache<number>(new VirtualClock(), 1_000, 10);
  const load = counting();
  const values = await Promise.all([cache.get('a', load), cache.get('a', load)]);
  expect(values).toEqual([1, 1]);
});

test('get at the bound drops the oldest entry', async () => {
  const cache = new ExpiringCache<number>(new VirtualClock(), 1_000, 2);
  const load = counting();
  for (const key of ['a', 'b', 'c']) await cache.get(key, load);
  expect(cache.size).toBe(2);
  expect(await cache.get('b', load)).toBe(2);
  expect(await cache.get('a', load)).toBe(4);
});

test('get whose load failed is loaded by the next caller', async () => {
  const cache = new ExpiringCache<number>(new VirtualClock(), 1_000, 2);
  await expect(cache.get('a', () => Promise.reject(new Error('down')))).rejects.toThrow('down');
  expect(await cache.get('a', () => Promise.resolve(7))).toBe(7);
});

test('forget makes the next caller load', async () => {
  const cache = new ExpiringCache<number>(new VirtualClock(), 1_000, 2);
  const load = counting();
  await cache.get('a', load);
  cache.forget('a');
  expect(await cache.get('a', load)).toBe(2);
});

import { expect, test } from 'vitest';
import { SessionCache } from './session-cache.ts';
import { SessionState } from './session-state.ts';
import { receipt } from './testing/receipts.ts';

const rules = { windowUs: 1_000_000, maxHoldUs: 500_000, graceMs: 30_000, abandonAfterMs: 600_000 };

const stateOf = (receipts: number): SessionState => {
  const state = new SessionState(rules);
  for (let seq = 0; seq < receipts; seq++) state.addReceipt(receipt(seq));
  return state;
};

test('set beyond the bound forgets the least recently used session', () => {
  const cache = new SessionCache(10);
  cache.set('a', stateOf(5));
  cache.set('b', stateOf(5));
  cache.get('a');
  cache.set('c', stateOf(1));
  expect(cache.get('b')).toBeUndefined();
  expect(cache.get('a')).toBeDefined();
  expect(cache.get('c')).toBeDefined();
});

test('set of a session larger than the bound keeps that one', () => {
  const cache = new SessionCache(3);
  cache.set('a', stateOf(1));
  cache.set('b', stateOf(4));
  expect(cache.size).toBe(1);
  expect(cache.get('b')).toBeDefined();
});

test('withSession does work on one session one at a time, also after a failure', async () => {
  const cache = new SessionCache();
  const order: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = cache.withSession('a', async () => {
    await gate.promise;
    order.push('first');
    throw new Error('planned');
  });
  const second = cache.withSession('a', async () => {
    order.push('second');
  });
  const other = cache.withSession('b', async () => {
    order.push('other');
  });
  await other;
  gate.resolve();
  await expect(first).rejects.toThrow('planned');
  await second;
  expect(order).toEqual(['other', 'first', 'second']);
});

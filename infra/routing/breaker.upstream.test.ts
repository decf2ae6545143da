import { expect, test } from 'vitest';
import { Breaker, type BreakerParams } from './breaker.ts';

/**
 * knative/serving pkg/queue/breaker_test.go, commit 98e5ef90, restated: there requests are goroutines
 * that block, here each says what became of it.
 */
interface Asked {
  state: 'at work' | 'waiting' | 'refused' | 'cancelled';
  cancel(): void;
}

class Requester {
  readonly breaker: Breaker;

  constructor(params: BreakerParams) {
    this.breaker = new Breaker(params);
  }

  request(): Asked {
    const admit = (): void => {
      asked.state = 'at work';
    };
    const asked: Asked = {
      state: 'waiting',
      cancel: () => {
        if (this.breaker.cancel(admit)) asked.state = 'cancelled';
      },
    };
    const answer = this.breaker.offer(admit);
    if (answer !== 'queued') asked.state = answer === 'admitted' ? 'at work' : 'refused';
    return asked;
  }

  finish(asked: Asked): void {
    expect(asked.state).toBe('at work');
    this.breaker.release();
  }
}

const ONE: BreakerParams = { queueDepth: 1, maxConcurrency: 1, capacity: 1 };
const CLOSED: BreakerParams = { ...ONE, capacity: 0 };

test.each<readonly [name: string, params: BreakerParams]>([
  ['QueueDepth = 0', { queueDepth: 0, maxConcurrency: 1, capacity: 1 }],
  ['MaxConcurrency negative', { queueDepth: 1, maxConcurrency: -1, capacity: 1 }],
  ['InitialCapacity negative', { queueDepth: 1, maxConcurrency: 1, capacity: -1 }],
  ['InitialCapacity out-of-bounds', { queueDepth: 1, maxConcurrency: 5, capacity: 6 }],
])('TestBreakerInvalidConstructor: %s', (_, params) => {
  expect(() => new Breaker(params)).toThrow(RangeError);
});

test('TestBreakerReserveOverload', () => {
  const breaker = new Breaker(ONE);
  expect(breaker.tryAcquire()).toBe(true);
  expect(breaker.tryAcquire()).toBe(false);
  breaker.release();
  expect(breaker.tryAcquire()).toBe(true);
});

test('TestBreakerOverloadMixed', () => {
  const requester = new Requester(ONE);
  const first = requester.request();
  expect(requester.breaker.tryAcquire()).toBe(false);
  requester.finish(first);
  expect(requester.breaker.tryAcquire()).toBe(true);
});

test('TestBreakerOverload', () => {
  const requester = new Requester(ONE);
  const [first, second] = [requester.request(), requester.request()];
  expect(requester.request().state).toBe('refused');
  requester.finish(first);
  requester.finish(second);
});

test('TestBreakerQueueing', () => {
  const requester = new Requester(CLOSED);
  const [first, second] = [requester.request(), requester.request()];
  expect([first.state, second.state]).toEqual(['waiting', 'waiting']);
  requester.breaker.setCapacity(1);
  requester.finish(first);
  requester.finish(second);
});

test('TestBreakerNoOverload', () => {
  const requester = new Requester(ONE);
  const first = requester.request();
  const second = requester.request();
  requester.finish(first);
  const third = requester.request();
  requester.finish(second);
  const fourth = requester.request();
  requester.finish(third);
  requester.finish(fourth);
});

test('TestBreakerCancel', () => {
  const requester = new Requester(CLOSED);
  // A cancelled request gives its place in the queue back.
  for (const _ of [1, 2]) {
    const asked = requester.request();
    asked.cancel();
    expect(asked.state).toBe('cancelled');
  }
  requester.breaker.setCapacity(1);
  const [first, second] = [requester.request(), requester.request()];
  expect(requester.request().state).toBe('refused');
  const third = requester.request();
  third.cancel();
  expect(third.state).toBe('refused');
  requester.finish(first);
  requester.finish(second);
});

test('TestBreakerUpdateConcurrency', () => {
  const breaker = new Breaker(CLOSED);
  breaker.setCapacity(1);
  expect(breaker.capacity).toBe(1);
  breaker.setCapacity(0);
  expect(breaker.capacity).toBe(0);
});

test('TestSemaphoreAcquireHasNoCapacity, TestSemaphoreAcquireHasCapacity', () => {
  const breaker = new Breaker(CLOSED);
  expect(breaker.tryAcquire()).toBe(false);
  breaker.setCapacity(1);
  expect([breaker.tryAcquire(), breaker.tryAcquire()]).toEqual([true, false]);
});

test('TestSemaphoreRelease: a slot that nobody had cannot be given back', () => {
  const breaker = new Breaker(ONE);
  breaker.tryAcquire();
  breaker.release();
  expect(() => {
    breaker.release();
  }).toThrow(/given back/);
});

test('TestSemaphoreUpdateCapacity', () => {
  const breaker = new Breaker({ queueDepth: 1, maxConcurrency: 3, capacity: 1 });
  breaker.tryAcquire();
  breaker.setCapacity(3);
  expect(breaker.capacity).toBe(3);
});

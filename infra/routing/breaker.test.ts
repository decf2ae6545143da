import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Breaker } from './breaker.ts';

const admitInto = (log: number[], id: number) => (): void => {
  log.push(id);
};

test('Breaker admits up to its capacity, queues up to its bound, then refuses', () => {
  const breaker = new Breaker({ capacity: 2, maxConcurrency: 2, queueDepth: 1 });
  const admitted: number[] = [];
  const answers = [1, 2, 3, 4].map((id) => breaker.offer(admitInto(admitted, id)));
  expect(answers).toEqual(['admitted', 'admitted', 'queued', 'refused']);
  expect(admitted).toEqual([]);
  breaker.release();
  expect(admitted).toEqual([3]);
  expect([breaker.atWork, breaker.queued]).toEqual([2, 0]);
});

test('Breaker with capacity 0 holds everything until there is some', () => {
  const breaker = new Breaker({ capacity: 0, maxConcurrency: 3, queueDepth: 3 });
  const admitted: number[] = [];
  for (const id of [1, 2, 3]) expect(breaker.offer(admitInto(admitted, id))).toBe('queued');
  breaker.setCapacity(2);
  expect(admitted).toEqual([1, 2]);
});

test('Breaker with less capacity lets those at work finish before it admits again', () => {
  const breaker = new Breaker({ capacity: 2, maxConcurrency: 3, queueDepth: 2 });
  const admitted: number[] = [];
  breaker.offer(admitInto(admitted, 1));
  breaker.offer(admitInto(admitted, 2));
  breaker.offer(admitInto(admitted, 3));
  breaker.setCapacity(1);
  breaker.release();
  expect(admitted).toEqual([]);
  breaker.release();
  expect(admitted).toEqual([3]);
});

test('Breaker forgets a cancelled request, and cancels an admitted one not at all', () => {
  const breaker = new Breaker({ capacity: 1, maxConcurrency: 3, queueDepth: 2 });
  const admitted: number[] = [];
  breaker.offer(() => {});
  const second = admitInto(admitted, 2);
  breaker.offer(second);
  breaker.offer(admitInto(admitted, 3));
  expect(breaker.cancel(second)).toBe(true);
  expect(breaker.cancel(second)).toBe(false);
  breaker.release();
  expect(admitted).toEqual([3]);
});

test('Breaker.tryAcquire never overtakes who waits', () => {
  const breaker = new Breaker({ capacity: 0, maxConcurrency: 3, queueDepth: 1 });
  breaker.offer(() => {});
  breaker.setCapacity(1);
  expect(breaker.tryAcquire()).toBe(false);
  breaker.release();
  expect(breaker.tryAcquire()).toBe(true);
});

type Step = 'offer' | 'release' | 0 | 1 | 2 | 3;

test('Breaker after any steps keeps its bounds, its order and no free slot while somebody waits', () => {
  const steps = fc.array(fc.constantFrom<Step>('offer', 'release', 0, 1, 2, 3), { maxLength: 60 });
  fc.assert(
    fc.property(steps, (sequence) => {
      const breaker = new Breaker({ capacity: 1, maxConcurrency: 3, queueDepth: 4 });
      let capacity = 1;
      let next = 0;
      let working = 0;
      let finished = 0;
      const order: number[] = [];
      for (const step of sequence) {
        const before = breaker.atWork;
        if (step === 'offer') {
          const id = next;
          const answer = breaker.offer(() => order.push(id));
          if (answer === 'admitted') order.push(id);
          if (answer !== 'refused') next += 1;
        } else if (step === 'release') {
          if (breaker.atWork > 0) {
            finished += 1;
            breaker.release();
          }
        } else {
          capacity = step;
          breaker.setCapacity(step);
        }
        working = breaker.atWork;
        // Never above the capacity, except for those that were at work when it shrank.
        expect(working).toBeLessThanOrEqual(Math.max(capacity, before));
        expect(breaker.queued + breaker.atWork).toBeLessThanOrEqual(4 + 3);
        expect(breaker.queued > 0 && working < capacity).toBe(false);
        expect(working + finished + breaker.queued).toBe(next);
      }
      expect(order).toEqual(order.toSorted((a, b) => a - b));
    }),
  );
});

import { expect, test } from 'vitest';
import { VirtualClock } from '#kernel/core/clock.ts';
import { Deadlines } from './deadlines.ts';

function open(limitMs: number) {
  const clock = new VirtualClock();
  const late: string[] = [];
  const deadlines = new Deadlines<string>(clock, limitMs, (item) =>
    late.push(`${item} at ${clock.monotonicMs()}`),
  );
  return { clock, late, deadlines };
}

test('Deadlines tells each item that has not ended in time, at its own time, with one sleep', async () => {
  const { clock, late, deadlines } = open(100);
  deadlines.begin('a');
  await clock.advance(30);
  deadlines.begin('b');
  deadlines.begin('c');
  expect(clock.sleeping).toBe(1);
  deadlines.end('b');
  await clock.advance(69);
  expect(late).toEqual([]);
  await clock.advance(1_000);
  expect(late).toEqual(['a at 100', 'c at 130']);
  expect(deadlines.size).toBe(0);
  expect(clock.sleeping).toBe(0);
});

test('Deadlines begins anew after a time without items', async () => {
  const { clock, late, deadlines } = open(100);
  deadlines.begin('a');
  deadlines.end('a');
  await clock.advance(500);
  deadlines.begin('b');
  await clock.advance(100);
  expect(late).toEqual(['b at 600']);
});

test('Deadlines tells the last to begin first of those late together, unless telling another ended it', async () => {
  const { clock, deadlines, late } = open(100);
  for (const item of ['a', 'b', 'c']) deadlines.begin(item);
  await clock.advance(100);
  expect(late).toEqual(['c at 100', 'b at 100', 'a at 100']);
  const told: string[] = [];
  const chained = new Deadlines<string>(clock, 10, (item) => {
    told.push(item);
    chained.end('x');
  });
  chained.begin('x');
  chained.begin('y');
  await clock.advance(10);
  expect(told).toEqual(['y']);
});

test('Deadlines tells nobody after close, and leaves no sleep behind', async () => {
  const { clock, late, deadlines } = open(100);
  deadlines.begin('a');
  await clock.advance(1);
  deadlines.close();
  await clock.advance(1_000);
  expect(late).toEqual([]);
  expect(clock.sleeping).toBe(0);
});

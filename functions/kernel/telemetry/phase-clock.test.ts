import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatMarks, MAX_MARKS } from '../core/phases.ts';
import { PhaseClock } from './phase-clock.ts';

/** A clock set by hand, and the phases of a span that begins at 1000 ms. */
function setUp() {
  let nowMs = 1_000;
  const clock = new PhaseClock(nowMs, () => nowMs);
  const at = (ms: number): void => {
    nowMs = 1_000 + ms;
  };
  return { clock, at, end: (ms: number) => formatMarks(clock.end(1_000 + ms)) };
}

test('what no other phase has is compute', () => {
  const { clock, at, end } = setUp();
  at(2);
  const leave = clock.enter('store');
  at(5);
  leave();
  expect(end(7)).toBe('compute:0+2000 store:2000+3000 compute:5000+2000');
});

test('two calls of the store at once are one stretch', () => {
  const { clock, at, end } = setUp();
  const first = clock.enter('store');
  at(1);
  const second = clock.enter('store');
  at(2);
  first();
  // Leaving twice is leaving once.
  first();
  at(4);
  second();
  expect(end(4)).toBe('store:0+4000');
});

test('the more particular phase has the moment that two claim', () => {
  const { clock, at, end } = setUp();
  const store = clock.enter('store');
  at(1);
  const publish = clock.enter('publish');
  at(2);
  store();
  at(3);
  publish();
  expect(end(3)).toBe('store:0+1000 publish:1000+2000');
});

test('a stretch that has ended takes its time from the tile under way', () => {
  const { clock, at, end } = setUp();
  at(10);
  clock.mark('burnCpu', 1_002, 1_006);
  clock.mark('burnReady', 1_006, 1_009);
  expect(end(12)).toBe('compute:0+2000 burnCpu:2000+4000 burnReady:6000+3000 compute:9000+3000');
});

test('a stretch before the start stays there; one of the future is cut', () => {
  const { clock, at, end } = setUp();
  clock.mark('queue', 990, 1_000);
  at(1);
  clock.mark('burnCpu', 1_000, 1_005);
  expect(end(2)).toBe('queue:-10000+10000 burnCpu:0+1000 compute:1000+1000');
});

test('a sender whose clock is ahead makes no negative wait', () => {
  const { clock, end } = setUp();
  clock.mark('queue', 1_003, 1_000);
  expect(end(1)).toBe('compute:0+1000');
});

test('beyond the bound the last mark grows, so that the length stays covered', () => {
  const { clock, at } = setUp();
  for (let ms = 0; ms < 2 * MAX_MARKS; ms += 2) {
    at(ms);
    const leave = clock.enter('store');
    at(ms + 1);
    leave();
  }
  const marks = clock.end(1_000 + 2 * MAX_MARKS);
  expect(marks.length).toBe(MAX_MARKS);
  const last = marks.at(-1);
  expect((last?.fromUs ?? 0) + (last?.lengthUs ?? 0)).toBe(2_000 * MAX_MARKS);
});

test('marks tile the span, whatever is entered and left', () => {
  const step = fc.record({
    ms: fc.integer({ min: 0, max: 5 }),
    phase: fc.constantFrom('store', 'publish', 'decode', 'emit'),
    leave: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const { clock, at } = setUp();
      const open: (() => void)[] = [];
      let ms = 0;
      for (const { ms: more, phase, leave } of steps) {
        ms += more;
        at(ms);
        if (leave) open.shift()?.();
        else open.push(clock.enter(phase));
      }
      let untilUs = 0;
      for (const mark of clock.end(1_000 + ms)) {
        expect(mark.fromUs).toBe(untilUs);
        untilUs += mark.lengthUs;
      }
      expect(untilUs).toBe(ms * 1_000);
    }),
  );
});

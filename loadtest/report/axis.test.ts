import fc from 'fast-check';
import { expect, test } from 'vitest';
import { linearScale, niceStep, px, ticks } from './axis.ts';

test.each([
  [97, 5, 20],
  [1, 5, 0.2],
  [0.03, 5, 0.005],
  [1_000_000, 4, 200_000],
  [0, 5, 1],
])('niceStep of %d in about %i steps: %d', (span, count, step) => {
  expect(niceStep(span, count)).toBeCloseTo(step, 12);
});

test('ticks of a range: inside it, without drift', () => {
  expect(ticks(-4.5, 3, 4)).toEqual([-4, -2, 0, 2]);
  expect(ticks(0, 0.5, 5)).toEqual([0, 0.1, 0.2, 0.3, 0.4, 0.5]);
});

test('ticks of any range: few, ascending, inside', () => {
  const value = fc.double({ min: -1e6, max: 1e6, noNaN: true });
  fc.assert(
    fc.property(value, fc.double({ min: 1e-3, max: 1e6, noNaN: true }), (min, span) => {
      const found = ticks(min, min + span, 5);
      expect(found.length).toBeLessThanOrEqual(9);
      expect(found).toEqual([...found].sort((a, b) => a - b));
      for (const tick of found) {
        expect(tick).toBeGreaterThanOrEqual(min - span / 1e3);
        expect(tick).toBeLessThanOrEqual(min + span * 1.001);
      }
    }),
  );
});

test('linearScale of one value: in the middle, not divided by zero', () => {
  expect(linearScale(5, 5, 0, 100).at(5)).toBe(50);
  expect(linearScale(0, 10, 100, 0).at(2.5)).toBe(75);
});

test('px: one decimal at most', () => {
  expect([px(1), px(1.25), px(-0.04)]).toEqual(['1', '1.3', '-0']);
});

import { expect, test } from 'vitest';
import { binsOf, histogram } from './histogram.ts';

test('binsOf: a value on an edge belongs to the bin that starts there, each counted once', () => {
  expect(binsOf([0, 9.99, 10, 20], 2)).toEqual([
    { from: 0, until: 10, count: 2 },
    { from: 10, until: 20, count: 1 },
    { from: 20, until: 30, count: 1 },
  ]);
});

test('binsOf equal values, zeros too: one bin holds them all', () => {
  expect(binsOf([0, 0]).reduce((sum, { count }) => sum + count, 0)).toBe(2);
  expect(binsOf([250, 250]).at(-1)?.count).toBe(2);
});

test('histogram without values: says so', () => {
  expect(histogram([], []).text).toContain('No batch came out');
});

test('histogram with marks: those with a value are drawn, with their text', () => {
  const { text } = histogram(
    [10, 20, 30],
    [
      { name: 'p50', value: 20 },
      { name: 'p95', value: null },
    ],
  );
  expect(text).toContain('p50 20.0 ms');
  expect(text).not.toContain('p95');
});

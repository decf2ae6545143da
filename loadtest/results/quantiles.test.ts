import { expect, test } from 'vitest';
import { quantilesOf } from './quantiles.ts';

const upTo = (n: number): readonly number[] => Array.from({ length: n }, (_, index) => n - index);

test('quantilesOf nothing: all null', () => {
  expect(quantilesOf([])).toEqual({ p50: null, p95: null, p99: null, max: null, n: 0 });
});

test.each([
  [1, { p50: 1, p95: null, p99: null, max: 1, n: 1 }],
  [2, { p50: 1, p95: null, p99: null, max: 2, n: 2 }],
  [19, { p50: 10, p95: null, p99: null, max: 19, n: 19 }],
  [20, { p50: 10, p95: 19, p99: null, max: 20, n: 20 }],
  [99, { p50: 50, p95: 95, p99: null, max: 99, n: 99 }],
  [100, { p50: 50, p95: 95, p99: 99, max: 100, n: 100 }],
  [300, { p50: 150, p95: 285, p99: 297, max: 300, n: 300 }],
])('quantilesOf 1 to %i: nearest rank, null below 20 and 100 values', (n, expected) => {
  expect(quantilesOf(upTo(n))).toEqual(expected);
});

test('quantilesOf values finer than a µs: rounded', () => {
  expect(quantilesOf([1.23456]).p50).toBe(1.235);
});

import { expect, test } from 'vitest';
import {
  chiSquareCdf,
  chiSquareQuantile,
  fisherCdf,
  fisherQuantile,
  normalCdf,
  normalQuantile,
  studentCdf,
  studentQuantile,
} from './distributions.ts';
import fixtures from './fixtures/statistics.json' with { type: 'json' };

const { distributions } = fixtures;

/** Equal to so many parts of the expected size: tails are as small as 1e-16. */
function close(actual: number, expected: number, relative: number): void {
  expect(Math.abs(actual - expected)).toBeLessThanOrEqual(relative * Math.abs(expected) + 1e-300);
}

test('distribution functions: as SciPy to ten digits, tails included', () => {
  for (const [x = 0, p = 0] of distributions.normal) close(normalCdf(x), p, 1e-11);
  for (const [x = 0, df = 0, p = 0] of distributions.student) close(studentCdf(x, df), p, 1e-10);
  for (const [x = 0, a = 0, b = 0, p = 0] of distributions.fisher)
    close(fisherCdf(x, a, b), p, 1e-10);
  for (const [x = 0, df = 0, p = 0] of distributions.chiSquare) close(chiSquareCdf(x, df), p, 1e-9);
});

test('quantiles: as SciPy', () => {
  for (const [p = 0, x = 0] of distributions.normalQuantile) {
    expect(normalQuantile(p)).toBeCloseTo(x, 8);
  }
  for (const [p = 0, df = 0, x = 0] of distributions.studentQuantile) {
    close(studentQuantile(p, df), x, 1e-8);
  }
  for (const [p = 0, a = 0, b = 0, x = 0] of distributions.fisherQuantile) {
    close(fisherQuantile(p, a, b), x, 1e-8);
  }
  for (const [p = 0, df = 0, x = 0] of distributions.chiSquareQuantile) {
    close(chiSquareQuantile(p, df), x, 1e-8);
  }
});

test('normalQuantile at the ends: without bound; outside: NaN', () => {
  expect(normalQuantile(0)).toBe(Number.NEGATIVE_INFINITY);
  expect(normalQuantile(1)).toBe(Number.POSITIVE_INFINITY);
  expect(normalQuantile(1.1)).toBeNaN();
});

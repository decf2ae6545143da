import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LogHistogram } from './log-histogram.ts';

const of = (values: readonly number[]): LogHistogram => {
  const histogram = new LogHistogram();
  for (const value of values) histogram.add(value);
  return histogram;
};

const anyValue = fc.double({ min: -1e9, max: 1e9, noNaN: true });

test('LogHistogram + values: count, sum and extremes are exact', () => {
  const document = of([1, 1.5, 2, 0.75, 0, -3]).toDocument();
  expect(document).toEqual({
    count: 6,
    sum: 2.25,
    min: -3,
    max: 2,
    zero: 1,
    positive: [
      [-16, 1],
      [0, 1],
      [16, 1],
      [32, 1],
    ],
    negative: [[48, 1]],
  });
});

test('LogHistogram + nothing: no quantile, no extremes', () => {
  expect(of([]).quantile(0.5)).toBeNull();
  expect(of([]).toDocument()).toMatchObject({ count: 0, min: null, max: null });
});

test('LogHistogram + a value that is not finite: left out', () => {
  expect(of([Number.NaN, Infinity, -Infinity, 1]).toDocument()).toMatchObject({ count: 1, sum: 1 });
});

test('quantile + any values: the value of that rank, to 1/32', () => {
  const p = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(fc.array(anyValue, { minLength: 1, maxLength: 50 }), p, (values, share) => {
      const rank = Math.max(1, Math.ceil(share * values.length));
      const exact = values.toSorted((a, b) => a - b)[rank - 1] ?? 0;
      const found = of(values).quantile(share) ?? Number.NaN;
      expect(Math.abs(found - exact)).toBeLessThanOrEqual(Math.abs(exact) / 32 + 1e-6);
    }),
  );
});

test('merge + any two histograms: as if one had seen all values', () => {
  const some = fc.array(fc.integer({ min: -1_000, max: 1_000 }), { maxLength: 30 });
  fc.assert(
    fc.property(some, some, (a, b) => {
      const merged = of(a);
      // What is kept must survive its own way as JSON.
      merged.merge(JSON.parse(JSON.stringify(of(b).toDocument())));
      expect(merged.toDocument()).toEqual(of([...a, ...b]).toDocument());
    }),
  );
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { downsample } from './downsample.ts';

test('downsample of a spike between quiet samples: the spike stays', () => {
  const values = Array.from({ length: 1_000 }, (_, row) => (row === 517 ? 99 : 1));
  const samples = downsample([...values.keys()], values, { from: 0, until: 1_000 }, 10);
  expect(samples.length).toBeLessThanOrEqual(20);
  expect(samples).toContainEqual({ time: 517, value: 99 });
});

test('downsample with absent values: skipped', () => {
  expect(downsample([0, 1, 2], [Number.NaN, 5, Number.NaN], { from: 0, until: 2 }, 4)).toEqual([
    { time: 1, value: 5 },
  ]);
});

test('downsample of one moment: one column', () => {
  expect(downsample([3, 3], [1, 2], { from: 3, until: 3 }, 4)).toHaveLength(2);
});

test('downsample of any series: at most two a column, in order, with minimum and maximum', () => {
  const series = fc.array(fc.integer({ min: -1_000, max: 1_000 }), {
    minLength: 1,
    maxLength: 300,
  });
  fc.assert(
    fc.property(series, fc.integer({ min: 1, max: 40 }), (values, columns) => {
      const times = [...values.keys()];
      const samples = downsample(times, values, { from: 0, until: values.length }, columns);
      const kept = samples.map(({ value }) => value);
      expect(samples.length).toBeLessThanOrEqual(2 * columns);
      expect(Math.max(...kept)).toBe(Math.max(...values));
      expect(Math.min(...kept)).toBe(Math.min(...values));
      expect(samples.map(({ time }) => time)).toEqual(
        samples.map(({ time }) => time).sort((a, b) => a - b),
      );
    }),
  );
});

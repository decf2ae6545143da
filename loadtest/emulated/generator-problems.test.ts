import { expect, test } from 'vitest';
import { generatorProblems, LATE_MS } from './generator-problems.ts';

const batches = (late: number, total: number, lateMs: number) =>
  Array.from({ length: total }, (_, index) => ({
    intendedMs: 0,
    readyMs: index < late ? lateMs : 0,
  }));

test('generatorProblems of a generator that kept up: none, up to the limits', () => {
  expect(generatorProblems(batches(5, 100, LATE_MS + 1), 0, 10)).toEqual([]);
  expect(generatorProblems(batches(100, 100, LATE_MS), 0, 10)).toEqual([]);
  expect(generatorProblems([], 0, 10)).toEqual([]);
});

test('generatorProblems with more than 5 % late: says how many', () => {
  expect(generatorProblems(batches(6, 100, LATE_MS + 1), 0, 10)).toEqual([
    'the generator could not keep up: 6.0 % of the batches were sent more than 100 ms late',
  ]);
});

test('generatorProblems with batches held back: says why', () => {
  expect(generatorProblems(batches(0, 100, 0), 3, 10)).toEqual([
    'the load was cut: 3 batches were held back because 10 had no answer yet',
  ]);
});

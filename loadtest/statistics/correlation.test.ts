import { expect, test } from 'vitest';
import { randomStream } from '#kernel/core/random.ts';
import { pearson, ranks, spearman } from './correlation.ts';
import { MAX_EXACT, permutationTest, RANDOM_ORDERS, shuffle } from './permutation-test.ts';
import fixtures from './fixtures/statistics.json' with { type: 'json' };

const random = () => randomStream(1, 'permutation');

test.each(fixtures.correlations)('correlations of $name: as SciPy', (expected) => {
  const { xs, ys } = expected;
  expect(pearson(xs, ys)).toBeCloseTo(expected.pearson, 12);
  expect(spearman(xs, ys)).toBeCloseTo(expected.spearman, 12);
  expect(ranks(ys)).toEqual(expected.ranks);
});

test.each(fixtures.correlations)('permutationTest of $name: p as SciPy', (expected) => {
  const { xs, ys } = expected;
  const byRank = permutationTest(ranks(xs), ranks(ys), random());
  const byValue = permutationTest(xs, ys, random());
  expect(byRank.exact).toBe(xs.length <= MAX_EXACT);
  if (byRank.exact) {
    expect(byRank.pValue).toBeCloseTo(expected.spearmanP, 12);
    expect(byValue.pValue).toBeCloseTo(expected.pearsonP, 12);
  } else {
    // Two simulations of 20,000 orders each: their difference has a standard error below 0.005.
    expect(Math.abs(byRank.pValue - expected.spearmanP)).toBeLessThan(0.02);
    expect(byRank.permutations).toBe(RANDOM_ORDERS);
  }
});

test('permutationTest of ranks without ties: also twice the smaller tail, as SciPy doubles it', () => {
  const seven = fixtures.correlations.find(({ name }) => name === 'seven nodes');
  if (seven?.spearmanPDoubledTail === undefined) throw new Error('no such fixture');
  const { pValue, permutations } = permutationTest(ranks(seven.xs), ranks(seven.ys), random());
  expect(pValue).toBeCloseTo(seven.spearmanPDoubledTail, 12);
  expect(permutations).toBe(5_040);
});

test('permutationTest of four pairs: no data can be significant at 5 %', () => {
  const { pValue, smallestP } = permutationTest([1, 2, 3, 4], [1, 2, 3, 4], random());
  expect(pValue).toBeCloseTo(2 / 24, 12);
  expect(smallestP).toBeCloseTo(2 / 24, 12);
  expect(permutationTest([1, 2, 3, 4, 5], [2, 1, 3, 4, 5], random()).smallestP).toBeCloseTo(
    2 / 120,
    12,
  );
});

test('permutationTest of a constant column, or of one pair: undefined', () => {
  expect(permutationTest([1, 1, 1], [1, 2, 3], random()).pValue).toBeNaN();
  expect(permutationTest([1], [1], random()).pValue).toBeNaN();
  expect(pearson([1, 1], [1, 2])).toBeNaN();
});

test('permutationTest beyond eight pairs: never 0, the same for the same seed', () => {
  const column = Array.from({ length: 12 }, (_, index) => index);
  const first = permutationTest(column, column, random());
  expect(first.pValue).toBe(1 / (RANDOM_ORDERS + 1));
  expect(permutationTest(column, column, random())).toEqual(first);
});

test('shuffle: every order comes about equally often', () => {
  const stream = random();
  const counts = new Map<string, number>();
  for (let round = 0; round < 6_000; round++) {
    const items = ['a', 'b', 'c'];
    shuffle(items, stream);
    counts.set(items.join(''), (counts.get(items.join('')) ?? 0) + 1);
  }
  expect(counts.size).toBe(6);
  // 1,000 expected, standard deviation 29.
  for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(150);
});

import type { Random } from '#kernel/core/random.ts';
import { centred, dot } from './correlation.ts';

export interface PermutationTest {
  /** Two-sided: the share of orders whose correlation is at least as far from 0. NaN: undefined. */
  readonly pValue: number;
  /** All orders were tried; otherwise so many at random. */
  readonly exact: boolean;
  readonly permutations: number;
  /** The smallest p that any data with these ties could have reached by this test. */
  readonly smallestP: number;
}

/** 8! = 40,320 orders take some ms; 9! is nine times as long for a digit nobody reads. */
export const MAX_EXACT = 8;
export const RANDOM_ORDERS = 20_000;

/**
 * Tests whether two columns are related by trying the orders of one against the other: all of them up
 * to eight pairs, else 20,000 random ones with p = (1 + hits) / (1 + tried), which is never 0 (B.
 * Phipson, G. K. Smyth, 2010). Give ranks for Spearman's correlation, values for Pearson's. Scales are
 * the same in every order, so the sum of products decides.
 */
export function permutationTest(
  xs: readonly number[],
  ys: readonly number[],
  random: Random,
): PermutationTest {
  const [x, y] = [centred(xs), centred(ys)];
  const scale = Math.sqrt(dot(x, x) * dot(y, y));
  const exact = xs.length <= MAX_EXACT;
  if (xs.length < 2 || scale === 0) {
    return { pValue: Number.NaN, exact, permutations: 0, smallestP: Number.NaN };
  }
  const distances: number[] = [];
  const orders = exact ? allOrders(y) : randomOrders(y, random);
  for (const order of orders) distances.push(Math.abs(dot(x, order)) / scale);
  // Sums of the same products in another order differ in their last digits.
  const atLeast = (limit: number): number =>
    distances.reduce((hits, distance) => (distance >= limit - 1e-9 ? hits + 1 : hits), 0);
  const permutations = distances.length;
  const hits = atLeast(Math.abs(dot(x, y)) / scale);
  if (!exact) {
    const smallestP = 1 / (permutations + 1);
    return { pValue: (hits + 1) / (permutations + 1), exact, permutations, smallestP };
  }
  const farthest = distances.reduce((most, distance) => Math.max(most, distance), 0);
  const smallestP = atLeast(farthest) / permutations;
  return { pValue: hits / permutations, exact, permutations, smallestP };
}

/** Every order once. Source: B. R. Heap, "Permutations by Interchanges", 1963, the loop form. */
function* allOrders(values: readonly number[]): Generator<readonly number[]> {
  const order = [...values];
  const counters = order.map(() => 0);
  yield order;
  for (let level = 1; level < order.length;) {
    const counter = counters[level] ?? 0;
    if (counter < level) {
      swap(order, level % 2 === 0 ? 0 : counter, level);
      yield order;
      counters[level] = counter + 1;
      level = 1;
    } else {
      counters[level] = 0;
      level += 1;
    }
  }
}

function* randomOrders(values: readonly number[], random: Random): Generator<readonly number[]> {
  const order = [...values];
  for (let tried = 0; tried < RANDOM_ORDERS; tried++) {
    shuffle(order, random);
    yield order;
  }
}

/** In place, each order with equal chance (R. A. Fisher, F. Yates; R. Durstenfeld, 1964). */
export function shuffle(items: unknown[], random: Random): void {
  for (let last = items.length - 1; last > 0; last--) swap(items, random.below(last + 1), last);
}

function swap(items: unknown[], a: number, b: number): void {
  const [first, second] = [items[a], items[b]];
  items[a] = second;
  items[b] = first;
}

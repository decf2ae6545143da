import { expect, test } from 'vitest';
import { varianceComponents } from './variance-components.ts';
import fixtures from './fixtures/statistics.json' with { type: 'json' };
import type { NestedRow } from './variance-components.ts';

const rowsOf = (rows: readonly (readonly (string | number)[])[]): readonly NestedRow[] =>
  rows.map((row) => ({ groups: row.slice(0, -1).map(String), value: Number(row.at(-1)) }));

test.each(fixtures.components)(
  'varianceComponents of the $name design: as by projection matrices in NumPy',
  ({ rows, variances, meanSquares, degreesOfFreedom }) => {
    const components = varianceComponents(rowsOf(rows), 3);
    expect(components.map((component) => component.degreesOfFreedom)).toEqual(degreesOfFreedom);
    for (const [index, { variance, meanSquare }] of components.entries()) {
      expect(variance).toBeCloseTo(variances[index] ?? Number.NaN, 12);
      expect(meanSquare).toBeCloseTo(meanSquares[index] ?? Number.NaN, 12);
    }
  },
);

test('varianceComponents of a balanced design: as the mixed model of statsmodels (REML)', () => {
  const balanced = fixtures.components.find(({ name }) => name === 'balanced');
  if (balanced?.reml === undefined) throw new Error('no such fixture');
  const components = varianceComponents(rowsOf(balanced.rows), 3);
  const total = balanced.reml.reduce((sum, part) => sum + part, 0);
  for (const [index, { variance }] of components.entries()) {
    expect(Math.abs(variance - (balanced.reml[index] ?? Number.NaN))).toBeLessThan(0.001 * total);
  }
});

test('varianceComponents, worked by hand: two groups 1 3 and 5 9', () => {
  // Within: (2 + 8) / 2 = 5. Between: 2 · (2.5² + 2.5²) / 1 = 25 = 5 + 2 σ², so σ² = 10.
  const rows = [1, 3, 5, 9].map((value, index) => ({ groups: [index < 2 ? 'a' : 'b'], value }));
  expect(varianceComponents(rows, 1)).toEqual([
    { variance: 10, degreesOfFreedom: 1, meanSquare: 25 },
    { variance: 5, degreesOfFreedom: 2, meanSquare: 5 },
  ]);
});

test('varianceComponents with one burst an iteration: the burst is part of the iteration', () => {
  const rows = [1, 3, 5, 9].map((value, index) => ({
    groups: [index < 2 ? 'a' : 'b', String(index)],
    value,
  }));
  const [outer, inner, last] = varianceComponents(rows, 2);
  expect(outer?.variance).toBeCloseTo(10, 12);
  expect(inner?.variance).toBeCloseTo(5, 12);
  expect(last).toEqual({ variance: Number.NaN, degreesOfFreedom: 0, meanSquare: Number.NaN });
});

test('varianceComponents of one group: what is between groups cannot be told', () => {
  const rows = [1, 2, 4].map((value) => ({ groups: ['only'], value }));
  const [between, within] = varianceComponents(rows, 1);
  expect(between?.variance).toBeNaN();
  expect(within?.variance).toBeCloseTo(7 / 3, 12);
});

test('varianceComponents of groups more alike than chance: negative, not cut to 0', () => {
  const rows = [0, 10, 10, 0].map((value, index) => ({ groups: [index < 2 ? 'a' : 'b'], value }));
  expect(varianceComponents(rows, 1)[0]?.variance).toBe(-25);
});

test('varianceComponents: equal names in different groups are different groups', () => {
  const rows = [
    { groups: ['a', '0'], value: 1 },
    { groups: ['a', '1'], value: 2 },
    { groups: ['b', '0'], value: 3 },
    { groups: ['b', '1'], value: 4 },
  ];
  expect(varianceComponents(rows, 2).map(({ degreesOfFreedom }) => degreesOfFreedom)).toEqual([
    1, 2, 0,
  ]);
});

import { expect, test } from 'vitest';
import { toRemove } from './scale-order.ts';

/** Oldest first; a capital is ready. */
const replicas = (names: string) =>
  names.split('').map((name) => ({ name, ready: name === name.toUpperCase() }));

test.each([
  ['aBcD', 1, 'c'],
  ['aBcD', 2, 'ca'],
  ['aBcD', 3, 'caD'],
  ['aBcD', 9, 'caDB'],
  ['AB', 1, 'B'],
  ['AB', 0, ''],
  ['AB', -1, ''],
  ['', 1, ''],
])('toRemove of %s, %d too many: %s', (names, excess, gone) => {
  expect(
    toRemove(replicas(names), excess)
      .map(({ name }) => name)
      .join(''),
  ).toBe(gone);
});

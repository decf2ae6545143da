import { expect, test } from 'vitest';
import { closestName } from './closest-name.ts';

const verbs = ['setup', 'demo', 'up', 'down', 'status', 'doctor', 'help'];

test.each([
  ['stats', 'status'],
  ['doctr', 'doctor'],
  ['dwon', 'down'],
  ['upp', 'up'],
  ['STATUS', undefined],
  ['launch', undefined],
  ['', undefined],
])('closestName of "%s" is %s', (name, expected) => {
  expect(closestName(name, verbs)).toBe(expected);
});

import { expect, test } from 'vitest';
import { readLadder, readLinear } from './read-proportional.ts';

/**
 * Restates TestControllerParser and TestControllerSorter of kubernetes-sigs/cluster-proportional-autoscaler,
 * commit 5a5dd5a1, linear_controller_test.go and ladder_controller_test.go.
 */
test('linear: every field', () => {
  const text = `{ "coresPerReplica": 2, "nodesPerReplica": 1, "min": 1, "max": 100,
    "preventSinglePointFailure": true, "includeUnschedulableNodes": true }`;
  expect(readLinear(text).value).toEqual({
    coresPerReplica: 2,
    nodesPerReplica: 1,
    min: 1,
    max: 100,
    preventSinglePointFailure: true,
    includeUnschedulableNodes: true,
  });
});

test('linear: what is not said, or 0', () => {
  const expected = {
    coresPerReplica: 0,
    nodesPerReplica: 2.5,
    min: 1,
    max: null,
    preventSinglePointFailure: false,
    includeUnschedulableNodes: false,
  };
  expect(readLinear('{ "nodesPerReplica": 2.5 }').value).toEqual(expected);
  expect(readLinear('{ "nodesPerReplica": 2.5, "min": 0, "max": 0 }').value).toEqual(expected);
});

test.each([
  ['a comma too many', '{ "coresPerReplica": 2, "max": 100, }', /^it is not JSON: /],
  ['invalid JSON', '{ "coresPerReplica": {{ 1:1 } }', /^it is not JSON: /],
  [
    'text',
    '{ "coresPerReplica": "whatisthis" }',
    /^coresPerReplica is "whatisthis"; it must be a number from 0/,
  ],
  [
    'less than nothing',
    '{ "nodesPerReplica": -20 }',
    /^nodesPerReplica is -20; it must be a number from 0/,
  ],
  [
    'a negative minimum',
    '{ "nodesPerReplica": 1, "min": -1 }',
    /^min is -1; it must be an integer from 0/,
  ],
  [
    'a maximum below the minimum',
    '{ "nodesPerReplica": 1, "min": 100, "max": 50 }',
    /^max 50 is less than min 100$/,
  ],
  ['neither', '{ "min": 1, "max": 100 }', /^give coresPerReplica or nodesPerReplica, above 0$/],
  [
    'no flag',
    '{ "coresPerReplica": 2, "preventSinglePointFailure": "invalid" }',
    /^preventSinglePointFailure is "invalid"; use true or false$/,
  ],
  [
    'no flag',
    '{ "coresPerReplica": 2, "includeUnschedulableNodes": 1 }',
    /^includeUnschedulableNodes is 1; use true or false$/,
  ],
])('linear refuses %s', (_, text, message) => {
  const { value, faults } = readLinear(text);
  expect(value).toBeUndefined();
  expect(faults.map((fault) => fault.message)).toContainEqual(expect.stringMatching(message));
});

test('ladder: steps in any order, none where none is said', () => {
  const text = '{ "coresToReplicas": [[2, 2], [3, 3], [65535, 100], [512, 5], [1, 0], [0, 0]] }';
  expect(readLadder(text).value).toEqual({
    coresToReplicas: [
      [0, 0],
      [1, 0],
      [2, 2],
      [3, 3],
      [512, 5],
      [65_535, 100],
    ],
    nodesToReplicas: [],
    includeUnschedulableNodes: false,
  });
  const both = '{ "nodesToReplicas": [[1, 1]], "includeUnschedulableNodes": true }';
  expect(readLadder(both).value).toEqual({
    coresToReplicas: [],
    nodesToReplicas: [[1, 1]],
    includeUnschedulableNodes: true,
  });
});

test.each([
  ['invalid JSON', '{ "coresToReplicas": {{ 1:1 } }', /^it is not JSON: /],
  ['no list', '{ "coresToReplicas": { "1": 1 } }', /^coresToReplicas must be a list of at most/],
  ['text', '{ "coresToReplicas": [["1", "a"]] }', /^\["1","a"\] is not a step such as \[8, 2\]$/],
  ['less than nothing', '{ "nodesToReplicas": [[1, -200]] }', /^\[1,-200\] is not a step/],
  ['one figure', '{ "coresToReplicas": [[5]] }', /^\[5\] is not a step/],
  ['a fraction', '{ "coresToReplicas": [[1.5, 2]] }', /^\[1.5,2\] is not a step/],
])('ladder refuses %s', (_, text, message) => {
  const { value, faults } = readLadder(text);
  expect(value).toBeUndefined();
  expect(faults.map((fault) => fault.message)).toContainEqual(expect.stringMatching(message));
});

test('a thousand steps are read, one more is refused', () => {
  const text = (count: number): string =>
    JSON.stringify({
      coresToReplicas: Array.from({ length: count }, (_, index) => [index, index]),
    });
  expect(readLadder(text(1_000)).value?.coresToReplicas).toHaveLength(1_000);
  expect(readLadder(text(1_001)).faults).toEqual([
    { path: ['coresToReplicas'], message: 'coresToReplicas must be a list of at most 1000' },
  ]);
});

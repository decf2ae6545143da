import { expect, test } from 'vitest';
import { burnMs, estimateMs, executionOrder, iterationOrder } from './study-order.ts';
import { exampleStudy } from './testing/example-study.ts';
import { executionCount } from './study.ts';

test('executionOrder: every block holds every node and class once', () => {
  const study = exampleStudy();
  const order = executionOrder(study);
  expect(order).toHaveLength(executionCount(study));
  for (let block = 0; block < study.executions; block++) {
    const own = order.slice(block * 10, (block + 1) * 10);
    expect(own.every(({ execution }) => execution === block)).toBe(true);
    expect(new Set(own.map(({ node, qos }) => `${node} ${qos}`)).size).toBe(10);
  }
});

test('executionOrder: drawn anew for each block, the same for the same seed', () => {
  const order = executionOrder(exampleStudy());
  const names = order.map(({ node, qos }) => `${node} ${qos}`);
  expect(names.slice(0, 10)).not.toEqual(names.slice(10, 20));
  expect(executionOrder(exampleStudy())).toEqual(order);
  expect(executionOrder(exampleStudy({ seed: 2 }))).not.toEqual(order);
});

test('iterationOrder: every iteration holds every demand once, in an order of its own', () => {
  const demands = [50, 100, 200, 1_000].map((ms) => ({ ms, bursts: 1 }));
  const study = exampleStudy({ demands, iterations: 4 });
  const cell = { node: 'node-1', qos: 'guaranteed', execution: 0 } as const;
  const steps = iterationOrder(study, cell);
  const orders = [0, 1, 2, 3].map((iteration) =>
    steps.filter((step) => step.iteration === iteration).map(({ demandMs }) => demandMs),
  );
  for (const own of orders) expect([...own].sort((a, b) => a - b)).toEqual([50, 100, 200, 1_000]);
  expect(new Set(orders.map(String)).size).toBeGreaterThan(1);
  expect(iterationOrder(study, { ...cell, execution: 1 })).not.toEqual(steps);
});

test('estimateMs: neighbours make it longer', () => {
  const study = exampleStudy();
  const quiet = exampleStudy({ nodes: study.nodes.map((node) => ({ ...node, neighbours: 0 })) });
  expect(burnMs(study)).toBe(2 * (200 + 400));
  expect(estimateMs(quiet)).toBe(30 * (1_200 + 900));
  expect(estimateMs(study)).toBeGreaterThan(estimateMs(quiet));
});

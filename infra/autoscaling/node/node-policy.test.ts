import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { NodeConfig } from './node-config.ts';
import { decideNodes, startNodes, type NodeObservation, type NodeState } from './node-policy.ts';

const config = (over: Partial<NodeConfig> = {}): NodeConfig => ({
  upperThreshold: 0.8,
  lowerThreshold: 0.2,
  periodMs: 60_000,
  minNodes: 1,
  maxNodes: 4,
  addNodeMs: 30_000,
  cpuMillisPerNode: 1_000,
  services: [
    { name: 'data-processing', replicasPerNode: 1 },
    { name: 'export', replicasPerNode: 2 },
  ],
  ...over,
});

/** Nodes by their utilisation; null: not measured; `adding`: it is not there yet. */
const observed = (nodes: readonly (number | null | 'adding')[]): NodeObservation => ({
  nodes: nodes.map((utilisation, index) => ({
    name: `node-${index + 1}`,
    available: utilisation !== 'adding',
    utilisation: utilisation === 'adding' ? null : utilisation,
  })),
});

const state = (nodes: number, nextMs = 0): NodeState => ({ nodes, nextMs, begun: true });

test.each([
  { name: 'above the upper threshold', nodes: [0.81], wanted: 2, limits: [] },
  { name: 'exactly the upper threshold', nodes: [0.8], wanted: 1, limits: [] },
  { name: 'the average counts, not the busiest', nodes: [1, 0.5], wanted: 2, limits: [] },
  { name: 'below the lower threshold', nodes: [0.19, 0.19], wanted: 1, limits: [] },
  { name: 'exactly the lower threshold', nodes: [0.2, 0.2], wanted: 2, limits: [] },
  { name: 'the most nodes', nodes: [1, 1, 1, 1], wanted: 4, limits: ['maxNodes'] },
  { name: 'the least nodes', nodes: [0], wanted: 1, limits: ['minNodes'] },
  { name: 'not measured yet', nodes: [null], wanted: 1, limits: [] },
  { name: 'one that has just come is not idle', nodes: [0.9, null], wanted: 3, limits: [] },
  {
    name: 'a node is being added',
    nodes: [0.9, 'adding' as const],
    wanted: 2,
    limits: ['addNode'],
  },
  { name: 'idle while one is being added', nodes: [0.1, 'adding' as const], wanted: 1, limits: [] },
])('$name', ({ nodes, wanted, limits }) => {
  const { decision } = decideNodes(config(), state(nodes.length), observed(nodes), 0);
  expect(decision).toMatchObject({ nodes: wanted, limits });
  expect(decision.details).toMatchObject({ asked: wanted });
});

test('every service has its ratio of replicas to nodes', () => {
  const { decision } = decideNodes(config(), state(3), observed([0.5, 0.5, 0.5]), 0);
  expect(decision.replicas).toEqual({ 'data-processing': 3, export: 6 });
});

test('replicas come with the node, not with its order, and go at once', () => {
  const ordered = decideNodes(config(), state(1), observed([0.9]), 0);
  expect(ordered.decision).toMatchObject({ nodes: 2, replicas: { 'data-processing': 1 } });
  const waiting = decideNodes(config(), ordered.state, observed([0.9, 'adding']), 500);
  expect(waiting.decision).toMatchObject({ nodes: 2, replicas: { 'data-processing': 1 } });
  const there = decideNodes(config(), waiting.state, observed([0.9, null]), 30_000);
  expect(there.decision).toMatchObject({ nodes: 2, replicas: { 'data-processing': 2 } });
  const fewer = decideNodes(config(), state(2), observed([0.1, 0.1]), 0);
  expect(fewer.decision).toMatchObject({ nodes: 1, replicas: { 'data-processing': 1 } });
});

test('one decision a period, counted from the first; asked again then, sooner while a node comes', () => {
  const first = decideNodes(config(), startNodes(config(), 0), observed([0.9]), 3);
  expect(first.state).toEqual({ nodes: 2, nextMs: 60_003, begun: true });
  expect(first.decision.againAtMs).toBe(503);
  const between = decideNodes(config(), first.state, observed([0.9, 0.9]), 60_002);
  expect(between.state).toEqual(first.state);
  expect(between.decision).toMatchObject({ nodes: 2, reason: 'between two periods' });
  expect(between.decision.againAtMs).toBe(60_003);
  // Two periods were missed: the next point is still one of the grid.
  const late = decideNodes(config(), first.state, observed([0.9, 0.9]), 185_000);
  expect(late.state).toEqual({ nodes: 3, nextMs: 240_003, begun: true });
});

test('a node that was asked for and is not in the list yet is being added: no second one', () => {
  const { decision } = decideNodes(config(), state(2), observed([0.9]), 0);
  expect(decision).toMatchObject({ nodes: 2, limits: ['addNode'], details: { adding: true } });
  expect(decision.replicas).toMatchObject({ 'data-processing': 1 });
});

test('no node may be missing at the very start: the least are asked for before any measure', () => {
  const start = startNodes(config({ minNodes: 2 }), 0);
  const { decision } = decideNodes(config({ minNodes: 2 }), start, observed([]), 0);
  expect(decision).toMatchObject({ nodes: 2, replicas: { 'data-processing': 2, export: 4 } });
  expect(decision.reason).toBe('no node was measured yet');
});

const configs: fc.Arbitrary<NodeConfig> = fc
  .record({
    minNodes: fc.integer({ min: 1, max: 5 }),
    more: fc.integer({ min: 0, max: 5 }),
    lowerThreshold: fc.double({ min: 0, max: 0.5, noNaN: true }),
    upperThreshold: fc.double({ min: 0.51, max: 2, noNaN: true }),
  })
  .map(({ more, ...rest }) => config({ ...rest, maxNodes: rest.minNodes + more }));

const nodes = fc.array(
  fc.oneof(fc.option(fc.double({ min: 0, max: 2, noNaN: true })), fc.constant('adding' as const)),
  { maxLength: 8 },
);

test('bounds hold, one node at a time, replicas follow', () => {
  fc.assert(
    fc.property(configs, fc.nat(10), nodes, (of, more, list) => {
      const asked = Math.min(of.maxNodes, of.minNodes + more);
      const { decision } = decideNodes(of, state(asked), observed(list), 0);
      const wanted = decision.nodes ?? asked;
      expect(wanted).toBeGreaterThanOrEqual(of.minNodes);
      expect(wanted).toBeLessThanOrEqual(of.maxNodes);
      expect(Math.abs(wanted - asked)).toBeLessThanOrEqual(1);
      const replicas = decision.replicas?.['data-processing'] ?? 0;
      expect(replicas).toBeGreaterThanOrEqual(of.minNodes);
      expect(replicas).toBeLessThanOrEqual(wanted);
    }),
  );
});

test('more load never gives fewer nodes in the same state, and none without a measure a change', () => {
  fc.assert(
    fc.property(
      configs,
      fc.nat(10),
      nodes,
      fc.double({ min: 1, max: 9, noNaN: true }),
      (of, ...rest) => {
        const [more, list, factor] = rest;
        const asked = Math.min(of.maxNodes, of.minNodes + more);
        const wantedOf = (measured: typeof list): number | null =>
          decideNodes(of, state(asked), observed(measured), 0).decision.nodes;
        const busier = list.map((one) => (typeof one === 'number' ? one * factor : one));
        expect(wantedOf(busier)).toBeGreaterThanOrEqual(wantedOf(list) ?? Infinity);
        const blind = list.map((one) => (typeof one === 'number' ? null : one));
        expect(wantedOf(blind)).toBe(asked);
      },
    ),
  );
});

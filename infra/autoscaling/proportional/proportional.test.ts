import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  ladderReplicas,
  linearReplicas,
  type ClusterSize,
  type LadderConfig,
  type LadderStep,
  type LinearConfig,
} from './proportional.ts';

/**
 * Restates kubernetes-sigs/cluster-proportional-autoscaler, commit 5a5dd5a1,
 * pkg/autoscaler/controller/linearcontroller/linear_controller_test.go and
 * laddercontroller/ladder_controller_test.go, by the names of their tests.
 */
const linear = (over: Partial<LinearConfig> = {}): LinearConfig => ({
  coresPerReplica: 0,
  nodesPerReplica: 0,
  min: 1,
  max: 100,
  preventSinglePointFailure: false,
  includeUnschedulableNodes: false,
  ...over,
});

const size = (cores: number, nodes: number): ClusterSize => ({
  nodes,
  cores,
  schedulableNodes: nodes,
  schedulableCores: cores,
});

/** TestScaleFromSingleParam. */
test.each([
  [0, 2],
  [1, 2],
  [2, 2],
  [3, 2],
  [4, 2],
  [6, 3],
  [10, 5],
  [11, 6],
  [19, 10],
  [20, 10],
  [21, 11],
  [30, 15],
  [40, 20],
])('linear, 2 cores each and at least 2: %i cores → %i', (cores, replicas) => {
  expect(linearReplicas(linear({ coresPerReplica: 2, min: 2 }), size(cores, 0))).toBe(replicas);
});

/** TestScaleFromMultipleParams. */
test.each([
  [0, 0, 1],
  [1, 2, 2],
  [2, 3, 2],
  [3, 4, 2],
  [4, 4, 2],
  [6, 4, 3],
  [6, 5, 3],
  [8, 5, 4],
  [8, 15, 6],
  [8, 16, 7],
  [19, 21, 10],
  [23, 20, 12],
  [26, 38, 16],
  [30, 49, 20],
  [40, 20, 20],
])('linear, 2 cores or 2.5 nodes each: %i cores, %i nodes → %i', (cores, nodes, replicas) => {
  const config = linear({
    coresPerReplica: 2,
    nodesPerReplica: 2.5,
    preventSinglePointFailure: true,
  });
  expect(linearReplicas(config, size(cores, nodes))).toBe(replicas);
});

/** TestScaleFromUnschedulableNodes; upstream's cores of both kinds are as many as its nodes. */
test.each([
  [0, 0, 1],
  [1, 1, 1],
  [2, 2, 2],
  [4, 4, 2],
  [2, 4, 2],
  [8, 8, 4],
  [6, 8, 4],
  [21, 210, 100],
])('linear, unschedulable nodes too: %i of %i → %i', (schedulable, all, replicas) => {
  const config = linear({
    coresPerReplica: 2,
    nodesPerReplica: 2,
    preventSinglePointFailure: true,
    includeUnschedulableNodes: true,
  });
  const cluster = {
    ...size(all, all),
    schedulableNodes: schedulable,
    schedulableCores: schedulable,
  };
  expect(linearReplicas(config, cluster)).toBe(replicas);
});

test('linear: only schedulable nodes count by default', () => {
  const cluster = { ...size(8, 8), schedulableNodes: 6, schedulableCores: 6 };
  expect(linearReplicas(linear({ nodesPerReplica: 2 }), cluster)).toBe(3);
});

test('quirk: the second replica against a single point of failure comes after the maximum', () => {
  const config = linear({ nodesPerReplica: 10, max: 1, preventSinglePointFailure: true });
  expect([1, 2, 50].map((nodes) => linearReplicas(config, size(0, nodes)))).toEqual([1, 2, 2]);
});

test('linear without a maximum', () => {
  expect(linearReplicas(linear({ coresPerReplica: 0.5, max: null }), size(1_000, 1))).toBe(2_000);
});

const ladder = (over: Partial<LadderConfig>): LadderConfig => ({
  coresToReplicas: [],
  nodesToReplicas: [],
  includeUnschedulableNodes: false,
  ...over,
});

const ROOM: readonly LadderStep[] = [
  [1, 1],
  [2, 2],
  [3, 3],
  [4, 4],
  [10, 10],
  [20, 20],
];
const FROM_ZERO: readonly LadderStep[] = [
  [0, 0],
  [3, 3],
];
const FROM_ONE: readonly LadderStep[] = [
  [1, 0],
  [3, 3],
];

/** TestControllerScaler and TestControllerScalerFromZero. */
test.each([
  { name: 'ascending', steps: ROOM, amounts: [0, 1, 2, 3, 4, 6], replicas: [1, 1, 2, 3, 4, 4] },
  {
    name: 'ascending, further',
    steps: ROOM,
    amounts: [10, 11, 19, 20, 21, 40],
    replicas: [10, 10, 10, 20, 20, 20],
  },
  { name: 'from zero', steps: FROM_ZERO, amounts: [0, 1, 2, 3, 4], replicas: [0, 0, 0, 3, 3] },
  { name: 'zero from one', steps: FROM_ONE, amounts: [0, 1, 2, 3, 4], replicas: [0, 0, 0, 3, 3] },
  { name: 'without a step', steps: [], amounts: [0, 100], replicas: [0, 0] },
])('ladder: $name', ({ steps, amounts, replicas }) => {
  const byCores = ladder({ coresToReplicas: steps });
  const byNodes = ladder({ nodesToReplicas: steps });
  expect(amounts.map((cores) => ladderReplicas(byCores, size(cores, 0)))).toEqual(replicas);
  expect(amounts.map((nodes) => ladderReplicas(byNodes, size(0, nodes)))).toEqual(replicas);
});

/** TestScaleFromUnschedulableNodes of the ladder; the last row is our own: 12 cores say 3, 1 node says 1. */
test.each([
  { schedulable: [8, 2], all: [12, 3], include: true, replicas: 3 },
  { schedulable: [4, 1], all: [12, 3], include: false, replicas: 1 },
  { schedulable: [12, 1], all: [12, 3], include: false, replicas: 3 },
] as const)('ladder: $schedulable of $all, all of them $include → $replicas', (row) => {
  const config = ladder({
    nodesToReplicas: [
      [0, 0],
      [1, 1],
      [2, 2],
      [3, 3],
    ],
    coresToReplicas: [
      [0, 0],
      [4, 1],
      [8, 2],
      [12, 3],
    ],
    includeUnschedulableNodes: row.include,
  });
  const [schedulableCores, schedulableNodes] = row.schedulable;
  const [cores, nodes] = row.all;
  const cluster = { cores, nodes, schedulableCores, schedulableNodes };
  expect(ladderReplicas(config, cluster)).toBe(row.replicas);
});

test('a bigger cluster never has fewer replicas, and the bounds hold', () => {
  const configs = fc
    .record({
      coresPerReplica: fc.integer({ min: 1, max: 40 }),
      nodesPerReplica: fc.integer({ min: 0, max: 40 }),
      min: fc.integer({ min: 1, max: 5 }),
      more: fc.integer({ min: 1, max: 50 }),
      preventSinglePointFailure: fc.boolean(),
    })
    .map(({ more, ...rest }) => linear({ ...rest, max: rest.min + more }));
  fc.assert(
    fc.property(configs, fc.nat(500), fc.nat(500), fc.nat(50), (config, cores, nodes, more) => {
      const replicas = linearReplicas(config, size(cores, nodes));
      expect(replicas).toBeGreaterThanOrEqual(config.min);
      expect(replicas).toBeLessThanOrEqual(config.max ?? Infinity);
      expect(linearReplicas(config, size(cores + more, nodes))).toBeGreaterThanOrEqual(replicas);
      expect(linearReplicas(config, size(cores, nodes + more))).toBeGreaterThanOrEqual(replicas);
    }),
  );
});

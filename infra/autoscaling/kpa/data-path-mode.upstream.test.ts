import { expect, test } from 'vitest';
import { activatorsFor, nextStatus, pathMode } from './data-path-mode.ts';
import { defaultConfig } from './testing/example-config.ts';
import type { ActiveStatus } from './zero-machine.ts';

/** knative/serving pkg/reconciler/autoscaling/kpa/kpa_test.go, commit 98e5ef90: TestComputeActivatorNum. */
test.each([
  { name: 'default', pods: 0, burst: 200, want: 2 },
  { name: '1 pod', pods: 1, burst: 200, want: 3 },
  { name: 'tbc = 0', pods: 100, burst: 0, want: 2 },
  { name: 'tbc = -1', pods: 5, burst: -1, want: 5 },
  { name: 'many pods', pods: 15, burst: 200, want: 17 },
])('TestComputeActivatorNum: $name', ({ pods, burst, want }) => {
  const config = defaultConfig({
    totalPerReplica: 100,
    targetBurstCapacity: burst,
    activatorCapacity: 100,
  });
  expect(activatorsFor(config, pods)).toBe(want);
});

test('an unlimited burst adds nothing to what activators must hold, and takes nothing off', () => {
  // 2 × 100.5 = 201 of 100 each: 3; with −1 added it were 200 and 2.
  const config = defaultConfig({ totalPerReplica: 100.5, targetBurstCapacity: -1 });
  expect(activatorsFor(config, 2)).toBe(3);
});

/** The rows of TestReconcile that say which mode the ServerlessService takes. */
test.each([
  { name: 'pa activates', want: 11, ebc: 0, mode: 'serve' },
  { name: 'sks does not exist', want: -1, ebc: 0, mode: 'proxy' },
  { name: 'steady not serving', want: 0, ebc: 0, mode: 'proxy' },
  { name: 'from serving to proxy', want: 0, ebc: 0, mode: 'proxy' },
  { name: 'want=-1, underscaled, PA inactive', want: -1, ebc: 0, mode: 'proxy' },
  { name: 'want=1, underscaled, PA inactive', want: 11, ebc: 0, mode: 'serve' },
  { name: 'steady not enough capacity', want: 11, ebc: -42, mode: 'proxy' },
  {
    name: 'traffic increased, no longer enough burst capacity',
    want: 11,
    ebc: -18,
    mode: 'proxy',
  },
  {
    name: 'traffic decreased, now we have enough burst capacity',
    want: 11,
    ebc: 1,
    mode: 'serve',
  },
] as const)('TestReconcile, mode: $name', ({ want, ebc, mode }) => {
  expect(pathMode(want, ebc)).toBe(mode);
});

interface StatusRow {
  readonly name: string;
  readonly want: number;
  readonly ready: number;
  readonly min?: number;
  readonly initial?: number;
  readonly initialised?: boolean;
  readonly reachable?: boolean;
  readonly from: ActiveStatus;
  readonly to: ActiveStatus;
  readonly reaches?: boolean;
}

/** The rows of TestReconcile that say which condition comes next. */
const RECONCILED: readonly StatusRow[] = [
  { name: 'steady state', want: 11, ready: 1, from: 'active', to: 'active', reaches: true },
  { name: 'pa activates', want: 11, ready: 0, from: 'inactive', to: 'activating' },
  { name: 'sks becomes ready', want: 11, ready: 0, from: 'activating', to: 'activating' },
  { name: 'sks does not exist', want: -1, ready: 0, from: 'active', to: 'activating' },
  { name: 'sks is out of whack', want: 11, ready: 0, from: 'active', to: 'activating' },
  {
    name: 'kpa does not become ready without minScale endpoints when reachable',
    want: 11,
    ready: 1,
    min: 2,
    from: 'activating',
    to: 'activating',
  },
  {
    name: 'kpa becomes ready without minScale endpoints when unreachable',
    want: 11,
    ready: 1,
    min: 2,
    reachable: false,
    from: 'activating',
    to: 'active',
    reaches: true,
  },
  {
    name: 'kpa becomes ready with minScale endpoints when reachable',
    want: 11,
    ready: 2,
    min: 2,
    from: 'activating',
    to: 'active',
    reaches: true,
  },
  {
    name: 'from serving to proxy',
    want: 0,
    ready: 1,
    from: 'active',
    to: 'inactive',
    reaches: true,
  },
  {
    name: 'activation failure',
    want: 0,
    ready: 1,
    from: 'activating',
    to: 'inactive',
    reaches: true,
  },
  {
    name: 'want=-1, underscaled, PA inactive',
    want: -1,
    ready: 10,
    min: 11,
    initialised: true,
    from: 'inactive',
    to: 'inactive',
  },
  {
    name: 'want=1, underscaled, PA inactive',
    want: 11,
    ready: 10,
    min: 11,
    initialised: true,
    from: 'inactive',
    to: 'activating',
  },
  {
    name: 'underscaled, PA activating',
    want: 11,
    ready: 10,
    min: 11,
    initialised: true,
    from: 'activating',
    to: 'activating',
  },
  {
    name: 'underscaled, PA active',
    want: 11,
    ready: 10,
    min: 11,
    initialised: true,
    from: 'active',
    to: 'activating',
  },
  {
    name: 'overscaled, PA inactive',
    want: 11,
    ready: 12,
    min: 11,
    initialised: true,
    from: 'inactive',
    to: 'active',
  },
  {
    name: 'over maxScale, need to scale down, PA active',
    want: 11,
    ready: 12,
    min: 11,
    initialised: true,
    from: 'active',
    to: 'active',
  },
  {
    name: 'scaled-to-0-no-scale-data',
    want: -1,
    ready: 0,
    initialised: true,
    from: 'inactive',
    to: 'inactive',
  },
  {
    name: 'initial scale > minScale, have not reached initial scale, PA still activating',
    want: 20,
    ready: 11,
    min: 11,
    initial: 20,
    from: 'activating',
    to: 'activating',
  },
  {
    name: 'initial scale reached, mark PA as active',
    want: 20,
    ready: 20,
    initial: 20,
    from: 'activating',
    to: 'active',
    reaches: true,
  },
  {
    name: 'initial scale zero: scale to zero',
    want: -1,
    ready: 0,
    initial: 0,
    from: 'activating',
    to: 'inactive',
    reaches: true,
  },
  {
    name: 'initial scale zero: stay at zero',
    want: -1,
    ready: 0,
    initial: 0,
    initialised: true,
    from: 'activating',
    to: 'activating',
  },
  {
    name: 'initial scale zero: scale to greater than zero',
    want: 2,
    ready: 2,
    initial: 0,
    initialised: true,
    from: 'activating',
    to: 'active',
  },
];

test.each(RECONCILED)('TestReconcile, condition: $name', (row) => {
  const config = defaultConfig({
    minScale: row.min ?? 0,
    initialScale: row.initial ?? 1,
    reachable: row.reachable ?? true,
  });
  const initialised = row.initialised ?? false;
  const { want, ready } = row;
  expect(nextStatus(config, row.from, initialised, { want, ready })).toEqual({
    status: row.to,
    initialised: initialised || (row.reaches ?? false),
  });
});

/**
 * The table in the comment of computeActiveCondition, each "any" by one row for each value. A threshold
 * of 0 there is an initial scale of 0 that was not reached yet.
 */
test.each([
  { want: 0, ready: 0, threshold: 1, from: 'inactive', to: 'inactive' },
  { want: 0, ready: 0, threshold: 1, from: 'activating', to: 'inactive' },
  { want: 0, ready: 3, threshold: 1, from: 'active', to: 'inactive' },
  { want: 2, ready: 0, threshold: 1, from: 'inactive', to: 'activating' },
  { want: 2, ready: 0, threshold: 1, from: 'activating', to: 'activating' },
  { want: 2, ready: 0, threshold: 1, from: 'active', to: 'activating' },
  { want: 2, ready: 1, threshold: 1, from: 'inactive', to: 'active' },
  { want: 2, ready: 1, threshold: 1, from: 'activating', to: 'active' },
  { want: 2, ready: 1, threshold: 1, from: 'active', to: 'active' },
  { want: -1, ready: 0, threshold: 1, from: 'inactive', to: 'inactive' },
  { want: -1, ready: 0, threshold: 1, from: 'activating', to: 'activating' },
  { want: -1, ready: 0, threshold: 1, from: 'active', to: 'activating' },
  { want: -1, ready: 1, threshold: 1, from: 'inactive', to: 'inactive' },
  { want: -1, ready: 0, threshold: 0, from: 'activating', to: 'inactive' },
  { want: -1, ready: 0, threshold: 0, from: 'active', to: 'inactive' },
  { want: -1, ready: 1, threshold: 1, from: 'activating', to: 'active' },
  { want: -1, ready: 1, threshold: 1, from: 'active', to: 'active' },
] as const)(
  'computeActiveCondition: want $want, ready $ready of $threshold, $from → $to',
  ({ want, ready, threshold, from, to }) => {
    const config = defaultConfig({ initialScale: threshold });
    expect(nextStatus(config, from, threshold > 0, { want, ready }).status).toBe(to);
  },
);

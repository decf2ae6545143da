import { expect, test } from 'vitest';
import { must } from '#kernel/core/assert.ts';
import type { KpaConfig } from '#infra/autoscaling/kpa/kpa-config.ts';
import {
  parseAutoscalingAnnotations,
  type AutoscalingAnnotations,
} from './autoscaling-annotations.ts';
import { parseConfigAutoscaler, type AutoscalerConfig } from './config-autoscaler.ts';
import {
  resolveBounds,
  resolveKpaConfig,
  resolveTarget,
  type RevisionScaling,
} from './resolve-kpa.ts';

const DEFAULTS = must(parseConfigAutoscaler({}).value, 'the default configuration');

type Texts = Readonly<Record<string, string>>;
type Over = Partial<AutoscalerConfig>;

function read(texts: Texts, config: AutoscalerConfig): AutoscalingAnnotations {
  const keys = Object.entries(texts).map(([name, text]) => [
    name.includes('/') ? name : `autoscaling.knative.dev/${name}`,
    text,
  ]);
  const { value, faults } = parseAutoscalingAnnotations(Object.fromEntries(keys), config);
  expect(faults).toEqual([]);
  return must(value, 'annotations without faults');
}

/** The configuration of target_test.go: targets are aimed at in full, except requests per second. */
const FULL: AutoscalerConfig = { ...DEFAULTS, concurrencyTargetFraction: 1 };

/** TestResolveMetricTarget, knative/serving pkg/reconciler/autoscaling/resources/target_test.go, 98e5ef90. */
const TARGETS: readonly (readonly [
  name: string,
  concurrency: number,
  texts: Texts,
  target: number,
  total: number,
  over?: Over,
])[] = [
  ['defaults', 0, {}, 100, 100],
  ['default CC + 80% TU', 0, {}, 80, 100, { concurrencyTargetFraction: 0.8 }],
  [
    'non-default CC and TU',
    0,
    {},
    0.6,
    2,
    { concurrencyTargetFraction: 0.3, concurrencyTargetDefault: 2 },
  ],
  [
    'with container concurrency 12 and TU=80%, but TU annotation 75%',
    12,
    { 'target-utilization-percentage': '75' },
    9,
    12,
    { concurrencyTargetFraction: 0.8 },
  ],
  ['with container concurrency 10 and TU=80%', 10, {}, 8, 10, { concurrencyTargetFraction: 0.8 }],
  ['with container concurrency 1 and TU=80%', 1, {}, 0.8, 1, { concurrencyTargetFraction: 0.8 }],
  ['with container concurrency 1', 1, {}, 1, 1],
  ['with container concurrency 10', 10, {}, 10, 10],
  ['with target annotation 1', 0, { target: '1' }, 1, 1],
  [
    'with target annotation 1 and TU=0.1%',
    0,
    { target: '1' },
    0.01,
    1,
    { concurrencyTargetFraction: 0.001 },
  ],
  [
    'with target annotation 1 and TU=75%',
    0,
    { target: '1' },
    0.75,
    1,
    { concurrencyTargetFraction: 0.75 },
  ],
  [
    'with target annotation 10 and TU=75%',
    0,
    { target: '10' },
    7.5,
    10,
    { concurrencyTargetFraction: 0.75 },
  ],
  ['with container concurrency greater than target annotation (ok)', 10, { target: '1' }, 1, 1],
  ['with target annotation greater than default (ok)', 0, { target: '500' }, 500, 500],
  [
    'with target annotation greater than container concurrency (ignore annotation for safety)',
    1,
    { target: '10' },
    1,
    1,
  ],
  ['RPS: defaults', 1, { metric: 'rps' }, 140, 200],
  ['RPS: with target annotation 1', 0, { metric: 'rps', target: '1' }, 0.7, 1],
  [
    'RPS: with TU annotation 75%',
    0,
    { metric: 'rps', 'target-utilization-percentage': '75' },
    150,
    200,
  ],
  [
    'RPS: with target annotation greater than default',
    0,
    { metric: 'rps', target: '300' },
    210,
    300,
  ],
  // Not upstream's: requests per second are not capped by what a replica takes at once.
  [
    'RPS: with target annotation greater than concurrency',
    1,
    { metric: 'rps', target: '10' },
    7,
    10,
  ],
];

test.each(TARGETS.map(([name, ...rest]) => ({ name, rest })))(
  'resolveTarget: $name',
  ({ rest }) => {
    const [containerConcurrency, texts, target, total, over = {}] = rest;
    const config = { ...FULL, ...over };
    const found = resolveTarget(read(texts, config), config, containerConcurrency);
    expect(found.target).toBeCloseTo(target, 12);
    expect(found.total).toBe(total);
  },
);

/** TestScaleBounds, pkg/apis/autoscaling/v1alpha1/pa_lifecycle_test.go; null: upstream's 0. */
test.each<
  readonly [
    name: string,
    texts: Texts,
    over: Over,
    reachable: boolean,
    min: number,
    max: number | null,
  ]
>([
  ['present', { 'min-scale': '1', 'max-scale': '100' }, {}, true, 1, 100],
  ['absent', {}, {}, true, 0, null],
  ['only min', { 'min-scale': '1' }, {}, true, 1, null],
  ['only min, overridden', { 'min-scale': '1' }, { maxScale: 10 }, true, 1, 10],
  ['max and config', { 'max-scale': '5' }, { maxScale: 10 }, true, 0, 5],
  ['only max', { 'max-scale': '1' }, {}, true, 0, 1],
  ['unreachable', { 'min-scale': '1', 'max-scale': '100' }, {}, false, 0, 100],
  ['min-scale set but unreachable', {}, { minScale: 2 }, false, 0, null],
  // Not upstream's.
  ['no maximum against the ConfigMap', { 'max-scale': '0' }, { maxScale: 10 }, true, 0, null],
])('resolveBounds: %s', (_, texts, over, reachable, min, max) => {
  const config = { ...DEFAULTS, ...over };
  expect(resolveBounds(read(texts, config), config, reachable)).toEqual({ min, max });
});

/** The configuration of decider_test.go. */
const DECIDER: AutoscalerConfig = {
  ...DEFAULTS,
  concurrencyTargetFraction: 1,
  rpsTargetFraction: 1,
  rpsTargetDefault: 100,
  maxScaleUpRate: 10,
  activatorCapacity: 811,
};

const DECIDED = {
  metric: 'concurrency',
  maxScaleUpRate: 10,
  targetPerReplica: 100,
  totalPerReplica: 100,
  targetBurstCapacity: 211,
  panicThreshold: 2,
  activatorCapacity: 811,
  stableWindowMs: 60_000,
  scaleDownDelayMs: 0,
  initialScale: 1,
  // Upstream's 0: neither acts.
  activationScale: 1,
  reachable: true,
} as const satisfies Partial<KpaConfig>;

/** TestMakeDecider, knative/serving pkg/reconciler/autoscaling/kpa/resources/decider_test.go, 98e5ef90. */
test.each<
  readonly [
    name: string,
    revision: RevisionScaling,
    texts: Texts,
    over: Over,
    expected: Partial<KpaConfig>,
  ]
>([
  ['defaults', { containerConcurrency: 0 }, {}, {}, {}],
  ['unreachable', { containerConcurrency: 0, reachable: false }, {}, {}, { reachable: false }],
  ['explicit reachable', { containerConcurrency: 0, reachable: true }, {}, {}, {}],
  [
    'tu < 1',
    { containerConcurrency: 0 },
    {},
    { concurrencyTargetFraction: 0.8 },
    { targetPerReplica: 80 },
  ],
  [
    'scale up and scale down rates',
    { containerConcurrency: 0 },
    {},
    { maxScaleUpRate: 19.84, maxScaleDownRate: 19.88 },
    { maxScaleUpRate: 19.84, maxScaleDownRate: 19.88 },
  ],
  [
    'with container concurrency 1',
    { containerConcurrency: 1 },
    {},
    {},
    { targetPerReplica: 1, totalPerReplica: 1 },
  ],
  [
    'with target annotation 1',
    { containerConcurrency: 0 },
    { target: '1' },
    {},
    { targetPerReplica: 1, totalPerReplica: 1 },
  ],
  [
    'with container concurrency and tu < 1',
    { containerConcurrency: 100 },
    {},
    { concurrencyTargetFraction: 0.8 },
    { targetPerReplica: 80 },
  ],
  [
    'with burst capacity set',
    { containerConcurrency: 120 },
    {},
    { targetBurstCapacity: 63, concurrencyTargetFraction: 0.8 },
    { targetPerReplica: 96, totalPerReplica: 120, targetBurstCapacity: 63 },
  ],
  [
    'with activator capacity override',
    { containerConcurrency: 0 },
    {},
    { activatorCapacity: 420 },
    { activatorCapacity: 420 },
  ],
  [
    'with burst capacity set on the annotation',
    { containerConcurrency: 120 },
    { 'target-burst-capacity': '211' },
    { targetBurstCapacity: 63, concurrencyTargetFraction: 0.8 },
    { targetPerReplica: 96, totalPerReplica: 120, targetBurstCapacity: 211 },
  ],
  [
    'with container concurrency greater than target annotation (ok)',
    { containerConcurrency: 10 },
    { target: '1' },
    {},
    { targetPerReplica: 1, totalPerReplica: 1 },
  ],
  [
    'with target annotation greater than container concurrency (ignore annotation for safety)',
    { containerConcurrency: 1 },
    { target: '10' },
    {},
    { targetPerReplica: 1, totalPerReplica: 1 },
  ],
  [
    'with higher panic target',
    { containerConcurrency: 0 },
    { target: '10', 'panic-threshold-percentage': '400' },
    {},
    { targetPerReplica: 10, totalPerReplica: 10, panicThreshold: 4 },
  ],
  ['with metric annotation', { containerConcurrency: 0 }, { metric: 'rps' }, {}, { metric: 'rps' }],
  [
    'with scale down delay from config',
    { containerConcurrency: 0 },
    {},
    { scaleDownDelayMs: 300_000 },
    { scaleDownDelayMs: 300_000 },
  ],
  [
    'with scale down delay from annotation',
    { containerConcurrency: 0 },
    { 'scale-down-delay': '10m' },
    { scaleDownDelayMs: 300_000 },
    { scaleDownDelayMs: 600_000 },
  ],
  [
    'with initial scale',
    { containerConcurrency: 0 },
    { 'initial-scale': '2' },
    {},
    { initialScale: 2 },
  ],
  [
    'with activation-scale',
    { containerConcurrency: 0 },
    { 'activation-scale': '3' },
    {},
    { activationScale: 3 },
  ],
  // TestStableWindow and TestMakeMetric of pkg/reconciler/autoscaling/resources/metric_test.go.
  [
    'StableWindow',
    { containerConcurrency: 0 },
    { window: '251s' },
    {},
    { stableWindowMs: 251_000 },
  ],
  [
    'with longer panic window percentage',
    { containerConcurrency: 0 },
    { 'panic-window-percentage': '50' },
    {},
    { panicWindowPercentage: 50 },
  ],
])('resolveKpaConfig: %s', (_, revision, texts, over, expected) => {
  const config = { ...DECIDER, ...over };
  const resolved = resolveKpaConfig(read(texts, config), config, revision);
  expect(resolved).toMatchObject({ ...DECIDED, ...expected });
});

/** TestGetInitialScale of decider_test.go. */
test.each<readonly [name: string, own: number | null, over: Over, expected: number]>([
  ['revision initial scale not set', null, {}, 1],
  ['revision initial scale overrides cluster initial scale', 2, {}, 2],
  ['cluster allows initial scale zero', 0, { allowZeroInitialScale: true }, 0],
  ['cluster does not allows initial scale zero', 0, { allowZeroInitialScale: false }, 1],
])('initialScale: %s', (_, initialScale, over, expected) => {
  const config = { ...DEFAULTS, ...over };
  const annotations = { ...read({}, config), initialScale };
  const resolved = resolveKpaConfig(annotations, config, { containerConcurrency: 0 });
  expect(resolved.initialScale).toBe(expected);
});

test('resolveKpaConfig without a word anywhere: Knative as it is installed', () => {
  const resolved = resolveKpaConfig(read({}, DEFAULTS), DEFAULTS, { containerConcurrency: 0 });
  expect(resolved).toEqual({
    metric: 'concurrency',
    aggregation: 'linear',
    targetPerReplica: 70,
    totalPerReplica: 100,
    stableWindowMs: 60_000,
    panicWindowPercentage: 10,
    panicThreshold: 2,
    maxScaleUpRate: 1000,
    maxScaleDownRate: 2,
    activationScale: 1,
    scaleDownDelayMs: 0,
    targetBurstCapacity: 211,
    activatorCapacity: 100,
    minScale: 0,
    maxScale: null,
    initialScale: 1,
    enableScaleToZero: true,
    scaleToZeroGracePeriodMs: 30_000,
    podRetentionPeriodMs: 0,
    progressDeadlineMs: 600_000,
    tickIntervalMs: 2_000,
    reachable: true,
  });
});

test('every annotation of a revision goes before the ConfigMap', () => {
  const texts = {
    'min-scale': '1',
    'max-scale': '9',
    'initial-scale': '3',
    'activation-scale': '2',
    'scale-to-zero-pod-retention-period': '1m30s',
    'metric-aggregation-algorithm': 'weighted-exponential',
    'panic-window-percentage': '20',
    'serving.knative.dev/progress-deadline': '42s',
  };
  const resolved = resolveKpaConfig(read(texts, DEFAULTS), DEFAULTS, { containerConcurrency: 0 });
  expect(resolved).toMatchObject({
    minScale: 1,
    maxScale: 9,
    initialScale: 3,
    activationScale: 2,
    podRetentionPeriodMs: 90_000,
    aggregation: 'weighted-exponential',
    panicWindowPercentage: 20,
    progressDeadlineMs: 42_000,
  });
});

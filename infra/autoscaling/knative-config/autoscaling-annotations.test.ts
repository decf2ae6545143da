import { expect, test } from 'vitest';
import { must } from '#kernel/core/assert.ts';
import {
  parseAutoscalingAnnotations,
  type AutoscalingAnnotations,
} from './autoscaling-annotations.ts';
import { parseConfigAutoscaler, type AutoscalerConfig } from './config-autoscaler.ts';

const G = 'autoscaling.knative.dev/';
const KPA = 'kpa.autoscaling.knative.dev';
const HPA = 'hpa.autoscaling.knative.dev';
const DEADLINE = 'serving.knative.dev/progress-deadline';

const DEFAULTS = must(parseConfigAutoscaler({}).value, 'the default configuration');

type Texts = Readonly<Record<string, string>>;
type Over = Partial<AutoscalerConfig>;

const withGroup = (texts: Texts): Texts =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [`${G}${name}`, text]));

/** TestRevisionTemplateSpecValidation's rows of pkg/apis/serving/v1/revision_validation_test.go. */
test.each([
  ['1m3s', 63_000, []],
  ['', null, []],
  ['1m3s34ms', null, ['progress-deadline=1m3s34ms is not at second precision']],
  ['not-a-duration', null, ['invalid value: not-a-duration']],
  ['-1m3s', null, ['progress-deadline=-1m3s must be positive']],
])('a progress deadline of "%s"', (text, progressDeadlineMs, messages) => {
  const { value, faults } = parseAutoscalingAnnotations({ [DEADLINE]: text }, DEFAULTS);
  expect(faults.map(({ message }) => message)).toEqual(
    messages.map((message) => `${message}: ${DEADLINE}`),
  );
  if (faults.length === 0) expect(value?.progressDeadlineMs).toBe(progressDeadlineMs);
});

const read = (texts: Texts, over: Over = {}): AutoscalingAnnotations =>
  must(
    parseAutoscalingAnnotations(withGroup(texts), { ...DEFAULTS, ...over }).value,
    'annotations without faults',
  );

/** The accessors of a PodAutoscaler, pkg/apis/autoscaling/v1alpha1/pa_lifecycle_test.go. */
test.each<readonly [texts: Texts, expected: Partial<AutoscalingAnnotations>]>([
  [{ target: '19.82' }, { target: 19.82 }],
  [{ class: 'yolo.sandwich.com' }, { class: 'yolo.sandwich.com', metric: '' }],
  [{ class: HPA }, { class: HPA, metric: 'cpu' }],
  [{ class: KPA }, { class: KPA, metric: 'concurrency' }],
  [{ 'scale-down-delay': '2m33s' }, { scaleDownDelayMs: 153_000 }],
  [{ window: '120s' }, { windowMs: 120_000 }],
  [{ 'panic-window-percentage': '10.0' }, { panicWindowPercentage: 10 }],
  [{ 'target-utilization-percentage': '10.0' }, { targetUtilizationPercentage: 10 }],
  [{ 'panic-threshold-percentage': '300.0' }, { panicThresholdPercentage: 300 }],
  [{ 'activation-scale': '5' }, { activationScale: 5 }],
  [{ 'target-burst-capacity': '101.0' }, { targetBurstCapacity: 101 }],
  [{ 'scale-to-zero-pod-retention-period': '4m21s' }, { scaleToZeroPodRetentionPeriodMs: 261_000 }],
  [{ 'initial-scale': '2' }, { initialScale: 2 }],
  [{ 'max-scale': '0' }, { maxScale: 0 }],
  [
    { 'metric-aggregation-algorithm': 'weighted-exponential' },
    { aggregation: 'weighted-exponential' },
  ],
  [
    { 'metric-aggregation-algorithm': 'weightedExponential' },
    { aggregation: 'weighted-exponential' },
  ],
])('parseAutoscalingAnnotations reads %j', (texts, expected) => {
  expect(read(texts)).toMatchObject(expected);
});

test('every camelCase name of register.go is read', () => {
  const texts = {
    initialScale: '2',
    maxScale: '9',
    metricAggregationAlgorithm: 'weightedExponential',
    minScale: '1',
    panicThresholdPercentage: '300',
    panicWindowPercentage: '20',
    scaleDownDelay: '1m',
    scaleToZeroPodRetentionPeriod: '2m',
    targetBurstCapacity: '7',
    targetUtilizationPercentage: '80',
  };
  expect(read(texts)).toEqual({
    class: KPA,
    metric: 'concurrency',
    aggregation: 'weighted-exponential',
    target: null,
    targetUtilizationPercentage: 80,
    targetBurstCapacity: 7,
    windowMs: null,
    panicWindowPercentage: 20,
    panicThresholdPercentage: 300,
    minScale: 1,
    maxScale: 9,
    initialScale: 2,
    activationScale: null,
    scaleDownDelayMs: 60_000,
    scaleToZeroPodRetentionPeriodMs: 120_000,
    progressDeadlineMs: null,
  });
});

test('of both names the one with dashes counts', () => {
  expect(read({ minScale: '1', 'min-scale': '2' }).minScale).toBe(2);
});

test('annotations of other groups are left alone', () => {
  const others = { 'tachograph.io/entry': 'x', 'prometheus.io/min-scale': 'y', description: 'z' };
  const { value, faults } = parseAutoscalingAnnotations(others, DEFAULTS);
  expect(faults).toEqual([]);
  expect(value).toEqual(read({}));
});

test('a misspelt algorithm is refused without a class beside it, where Knative reads linear', () => {
  const { faults } = parseAutoscalingAnnotations(
    withGroup({ 'metric-aggregation-algorithm': 'exponential' }),
    DEFAULTS,
  );
  expect(faults).toHaveLength(1);
});

import { expect, test } from 'vitest';
import { parseConfigAutoscaler, type AutoscalerConfig } from './config-autoscaler.ts';
import { CONFIG_KEYS } from './config-keys.ts';

/** Of knative/serving pkg/autoscaler/config/config.go, defaultConfig, commit 98e5ef90. */
const DEFAULTS: AutoscalerConfig = {
  podAutoscalerClass: 'kpa.autoscaling.knative.dev',
  enableScaleToZero: true,
  allowZeroInitialScale: false,
  concurrencyTargetFraction: 0.7,
  concurrencyTargetDefault: 100,
  rpsTargetDefault: 200,
  rpsTargetFraction: 0.7,
  targetBurstCapacity: 211,
  activatorCapacity: 100,
  stableWindowMs: 60_000,
  panicWindowPercentage: 10,
  panicThresholdPercentage: 200,
  maxScaleUpRate: 1000,
  maxScaleDownRate: 2,
  initialScale: 1,
  minScale: 0,
  maxScale: 0,
  maxScaleLimit: 0,
  scaleDownDelayMs: 0,
  scaleToZeroGracePeriodMs: 30_000,
  scaleToZeroPodRetentionPeriodMs: 0,
};

type Data = Readonly<Record<string, string>>;

/**
 * TestNewConfig of knative/serving pkg/autoscaler/config/config_test.go, commit 98e5ef90. Its rows also
 * hold `tick-interval` and `panic-window`, which upstream ignores; here they are unknown (see below).
 */
test.each<readonly [name: string, data: Data, over: Partial<AutoscalerConfig>]>([
  ['default', {}, {}],
  ['actual: nothing but the example', { _example: 'target-burst-capacity: "7"' }, {}],
  [
    'example: every key at its default',
    Object.fromEntries(Object.entries(CONFIG_KEYS).map(([key, row]) => [key, row.default])),
    {},
  ],
  [
    'overridden',
    {
      'enable-scale-to-zero': 'true',
      'max-scale-down-rate': '3.0',
      'max-scale-up-rate': '1.01',
      'container-concurrency-target-percentage': '0.71',
      'container-concurrency-target-default': '10.5',
      'requests-per-second-target-default': '10.11',
      'target-burst-capacity': '12345',
      'scale-down-delay': '15m',
      'stable-window': '5m',
      'panic-window-percentage': '10',
      'panic-threshold-percentage': '200',
      'pod-autoscaler-class': 'some.class',
      'activator-capacity': '905',
      'scale-to-zero-pod-retention-period': '2m3s',
    },
    {
      targetBurstCapacity: 12_345,
      concurrencyTargetDefault: 10.5,
      concurrencyTargetFraction: 0.71,
      rpsTargetDefault: 10.11,
      maxScaleDownRate: 3,
      maxScaleUpRate: 1.01,
      scaleDownDelayMs: 900_000,
      stableWindowMs: 300_000,
      activatorCapacity: 905,
      podAutoscalerClass: 'some.class',
      scaleToZeroPodRetentionPeriodMs: 123_000,
    },
  ],
  [
    'minimum',
    {
      'max-scale-up-rate': '1.001',
      'container-concurrency-target-percentage': '0.5',
      'container-concurrency-target-default': '10.0',
      'target-burst-capacity': '0',
      'stable-window': '5m',
      'panic-window-percentage': '10',
      'panic-threshold-percentage': '200',
      'activator-capacity': '1',
    },
    {
      concurrencyTargetFraction: 0.5,
      concurrencyTargetDefault: 10,
      maxScaleUpRate: 1.001,
      targetBurstCapacity: 0,
      stableWindowMs: 300_000,
      activatorCapacity: 1,
    },
  ],
  [
    'concurrency target percentage as percent',
    { 'container-concurrency-target-percentage': '55' },
    { concurrencyTargetFraction: 0.55 },
  ],
  ['with -1 tbc', { 'target-burst-capacity': '-1' }, { targetBurstCapacity: -1 }],
  ['with toggles on strange casing', { 'enable-scale-to-zero': 'TRUE' }, {}],
  [
    'with toggles explicitly flipped',
    { 'enable-scale-to-zero': 'false', 'min-scale': '1', 'max-scale': '2' },
    { enableScaleToZero: false, minScale: 1, maxScale: 2 },
  ],
  [
    'with explicit grace period',
    {
      'enable-scale-to-zero': 'false',
      'scale-to-zero-grace-period': '33s',
      'min-scale': '1',
      'max-scale': '2',
    },
    { enableScaleToZero: false, scaleToZeroGracePeriodMs: 33_000, minScale: 1, maxScale: 2 },
  ],
  [
    'with valid default initial scale',
    { 'allow-zero-initial-scale': 'true', 'initial-scale': '0' },
    { allowZeroInitialScale: true, initialScale: 0 },
  ],
  ['with valid default max scale', { 'max-scale': '10' }, { maxScale: 10 }],
  ['with min scale set but max-scale not set', { 'min-scale': '4' }, { minScale: 4 }],
  [
    'with valid default max scale and max scale limit',
    { 'max-scale': '10', 'max-scale-limit': '11' },
    { maxScale: 10, maxScaleLimit: 11 },
  ],
  // Not upstream's: the ends of ranges.
  [
    'everything of a replica, not a hundredth',
    { 'container-concurrency-target-percentage': '1' },
    { concurrencyTargetFraction: 1 },
  ],
  [
    'a panic threshold is not checked',
    { 'panic-threshold-percentage': '-5' },
    { panicThresholdPercentage: -5 },
  ],
  ['the shortest window', { 'stable-window': '6s' }, { stableWindowMs: 6_000 }],
  ['the longest window', { 'stable-window': '1h' }, { stableWindowMs: 3_600_000 }],
  [
    'a class with blanks around',
    { 'pod-autoscaler-class': ' x.y ' },
    { podAutoscalerClass: 'x.y' },
  ],
])('parseConfigAutoscaler: %s', (_, data, over) => {
  expect(parseConfigAutoscaler(data)).toEqual({ value: { ...DEFAULTS, ...over }, faults: [] });
});

/** The rows of TestNewConfig that fail, with the messages of config.go. */
test.each<readonly [name: string, data: Data, key: string, message: string]>([
  [
    'malformed float',
    { 'max-scale-up-rate': 'not a float' },
    'max-scale-up-rate',
    'failed to parse "max-scale-up-rate": strconv.ParseFloat: parsing "not a float": invalid syntax',
  ],
  [
    'invalid scale-down-delay',
    { 'scale-down-delay': '-1m23s' },
    'scale-down-delay',
    'scale-down-delay cannot be negative, was: -1m23s',
  ],
  [
    'invalid pod retention period',
    { 'scale-to-zero-pod-retention-period': '-4m11s' },
    'scale-to-zero-pod-retention-period',
    'scale-to-zero-pod-retention-period cannot be negative, was: -4m11s',
  ],
  [
    'malformed duration',
    { 'stable-window': 'not a duration' },
    'stable-window',
    'failed to parse "stable-window": time: invalid duration "not a duration"',
  ],
  [
    'invalid target burst capacity',
    { 'target-burst-capacity': '-11' },
    'target-burst-capacity',
    'target-burst-capacity must be either non-negative or -1 (for unlimited), was: -11.000000',
  ],
  [
    'invalid target %, too big',
    { 'container-concurrency-target-percentage': '142.4' },
    'container-concurrency-target-percentage',
    'container-concurrency-target-percentage = 1.424000 is outside of valid range of (0, 100]',
  ],
  [
    'invalid RPS target, too small',
    { 'requests-per-second-target-default': '-5.25' },
    'requests-per-second-target-default',
    'requests-per-second-target-default must be at least 0.01, was: -5.25',
  ],
  [
    'max scale up rate 1.0',
    { 'max-scale-up-rate': '1' },
    'max-scale-up-rate',
    'max-scale-up-rate = 1, must be greater than 1.0',
  ],
  [
    'max down down rate negative',
    { 'max-scale-down-rate': '-55' },
    'max-scale-down-rate',
    'max-scale-down-rate = -55, must be greater than 1.0',
  ],
  [
    'max down down rate 1.0',
    { 'max-scale-down-rate': '1' },
    'max-scale-down-rate',
    'max-scale-down-rate = 1, must be greater than 1.0',
  ],
  [
    'stable window too big',
    { 'stable-window': '1h1s' },
    'stable-window',
    'stable-window = 1h0m1s, must be in [6s; 1h0m0s] range',
  ],
  [
    'stable window too small',
    { 'stable-window': '1s' },
    'stable-window',
    'stable-window = 1s, must be in [6s; 1h0m0s] range',
  ],
  [
    'stable not seconds',
    { 'stable-window': '61984ms' },
    'stable-window',
    'stable-window = 1m1.984s, must be specified with at most second precision',
  ],
  [
    'scale-down-delay not seconds',
    { 'scale-down-delay': '61984ms' },
    'scale-down-delay',
    'scale-down-delay = 1m1.984s, must be specified with at most second precision',
  ],
  [
    'activator-capacity invalid',
    { 'activator-capacity': '0.95' },
    'activator-capacity',
    'activator-capacity = 0.95, must be at least 1',
  ],
  [
    'panic window percentage too small',
    { 'panic-window-percentage': '0.1' },
    'panic-window-percentage',
    'panic-window-percentage = 0.1, must be in [1, 100] interval',
  ],
  [
    'panic window percentage too big',
    { 'stable-window': '12s', 'panic-window-percentage': '110' },
    'panic-window-percentage',
    'panic-window-percentage = 110, must be in [1, 100] interval',
  ],
  [
    'TU*CC < 0.01',
    {
      'container-concurrency-target-percentage': '1',
      'container-concurrency-target-default': '0.001',
    },
    'container-concurrency-target-default',
    'container-concurrency-target-percentage and container-concurrency-target-default yield ' +
      "target concurrency of 0.001, can't be less than 0.01",
  ],
  [
    'grace window too small',
    { 'stable-window': '12s', 'scale-to-zero-grace-period': '0s' },
    'scale-to-zero-grace-period',
    'scale-to-zero-grace-period must be positive, was: 0s',
  ],
  [
    'with prohibited default initial scale',
    { 'allow-zero-initial-scale': 'false', 'initial-scale': '0' },
    'initial-scale',
    'initial-scale = 0, must be at least 0 (or at least 1 when allow-zero-initial-scale is false)',
  ],
  [
    'with negative default initial scale',
    { 'allow-zero-initial-scale': 'false', 'initial-scale': '-1' },
    'initial-scale',
    'initial-scale = -1, must be at least 0 (or at least 1 when allow-zero-initial-scale is false)',
  ],
  [
    'with non-parseable default initial scale',
    { 'allow-zero-initial-scale': 'false', 'initial-scale': 'invalid' },
    'initial-scale',
    'failed to parse "initial-scale": strconv.ParseInt: parsing "invalid": invalid syntax',
  ],
  [
    'with non-parseable allow-zero-initial-scale',
    { 'allow-zero-initial-scale': 'invalid' },
    'allow-zero-initial-scale',
    'failed to parse "allow-zero-initial-scale": strconv.ParseBool: parsing "invalid": invalid syntax',
  ],
  [
    'with negative default max scale',
    { 'max-scale': '-1' },
    'max-scale',
    'max-scale = -1, must be in [0, max-scale-limit(0)] range',
  ],
  [
    'max scale exceeding max scale limit',
    { 'max-scale': '10', 'max-scale-limit': '9' },
    'max-scale',
    'max-scale = 10, must be in [1, max-scale-limit(9)] range',
  ],
  [
    'with negative max scale limit',
    { 'max-scale-limit': '-9' },
    'max-scale-limit',
    'max-scale-limit = -9, must be at least 0',
  ],
  [
    'with max scale limit and zero default max scale',
    { 'max-scale': '0', 'max-scale-limit': '11' },
    'max-scale',
    'max-scale = 0, must be in [1, max-scale-limit(11)] range',
  ],
  [
    'with max scale less than min-scale',
    { 'min-scale': '4', 'max-scale': '3' },
    'min-scale',
    'min-scale (4) must be less than max-scale (3)',
  ],
  // Not upstream's rows.
  [
    'a limit without a maximum: the fault is at the key that is there',
    { 'max-scale-limit': '11' },
    'max-scale-limit',
    'max-scale = 0, must be in [1, max-scale-limit(11)] range',
  ],
  [
    'negative default min scale',
    { 'min-scale': '-1' },
    'min-scale',
    'min-scale = -1, must be at least 0',
  ],
  [
    'a misspelt key',
    { 'stable-windows': '60s' },
    'stable-windows',
    'stable-windows is not a known key; did you mean stable-window?',
  ],
  [
    'a key of older versions that nothing reads: the nearest is far',
    { 'tick-interval': '2s' },
    'tick-interval',
    'tick-interval is not a known key',
  ],
  ['a name of every object', { toString: '1' }, 'toString', 'toString is not a known key'],
])('parseConfigAutoscaler refuses: %s', (_, data, key, message) => {
  expect(parseConfigAutoscaler(data)).toEqual({ value: undefined, faults: [{ key, message }] });
});

test('"invalid target %, too small" breaks two rules', () => {
  const { faults } = parseConfigAutoscaler({ 'container-concurrency-target-percentage': '-42' });
  expect(faults.map(({ message }) => message)).toEqual([
    'container-concurrency-target-percentage = -42.000000 is outside of valid range of (0, 100]',
    'container-concurrency-target-percentage and container-concurrency-target-default yield ' +
      "target concurrency of -4200, can't be less than 0.01",
  ]);
});

test('every fault is named at once, rules only when all values can be read', () => {
  const unread = { 'stable-windw': '5s', 'max-scale': 'x', 'min-scale': '-1', 'initial-scale': '' };
  expect(parseConfigAutoscaler(unread).faults.map(({ key }) => key)).toEqual([
    'stable-windw',
    'initial-scale',
    'max-scale',
  ]);
  const broken = { 'stable-windw': '5s', 'stable-window': '5s', 'min-scale': '-1' };
  expect(parseConfigAutoscaler(broken).faults.map(({ key }) => key)).toEqual([
    'stable-windw',
    'stable-window',
    'min-scale',
  ]);
});

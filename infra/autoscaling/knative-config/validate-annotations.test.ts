import { expect, test } from 'vitest';
import { must } from '#kernel/core/assert.ts';
import { parseAutoscalingAnnotations } from './autoscaling-annotations.ts';
import { parseConfigAutoscaler, type AutoscalerConfig } from './config-autoscaler.ts';

const G = 'autoscaling.knative.dev/';
const KPA = 'kpa.autoscaling.knative.dev';
const HPA = 'hpa.autoscaling.knative.dev';

const DEFAULTS = must(parseConfigAutoscaler({}).value, 'the default configuration');

type Texts = Readonly<Record<string, string>>;
type Over = Partial<AutoscalerConfig>;

const withGroup = (texts: Texts): Texts =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [`${G}${name}`, text]));

/**
 * TestValidateAnnotations of knative/serving pkg/apis/autoscaling/annotation_validation_test.go, commit
 * 98e5ef90. Upstream writes equal messages of two keys in one line; here each key has its own.
 */
const TAKEN: readonly (readonly [name: string, texts: Texts, over?: Over])[] = [
  ['empty annotations', {}],
  ['non-knative.dev domain class', { class: 'some.other.domain' }],
  ['minScale is 0', { 'min-scale': '0' }],
  ['maxScale is 0', { 'max-scale': '0' }],
  ['minScale is 5', { 'min-scale': '5' }],
  ['maxScale is 2', { 'max-scale': '2' }],
  ['minScale is 2, maxScale is 5', { 'min-scale': '2', 'max-scale': '5' }],
  ['minScale is 0, maxScale is 0', { 'min-scale': '0', 'max-scale': '0' }],
  [
    'maxScale is not set when both MaxScaleLimit and default MaxScale are set',
    {},
    { maxScaleLimit: 10, maxScale: 11 },
  ],
  ['maxScale is less than MaxScaleLimit', { 'max-scale': '9' }, { maxScaleLimit: 10 }],
  [
    'min-scale, activation-scale, max-scale all set appropriately',
    { 'min-scale': '1', 'activation-scale': '2', 'max-scale': '3' },
  ],
  ['valid algorithm on KPA', { 'metric-aggregation-algorithm': 'linear', class: KPA }],
  ['empty algorithm', { 'metric-aggregation-algorithm': '', class: KPA }],
  [
    'random algorithm on non KPA',
    { 'metric-aggregation-algorithm': 'random-selection', class: 'of-keys' },
  ],
  ['panic window percentage good', { 'panic-threshold-percentage': '210' }],
  ['target okay', { target: '11' }],
  ['TBC 0', { 'target-burst-capacity': '0' }],
  ['TBC 19880709', { 'target-burst-capacity': '19870709' }],
  ['TBC -1', { 'target-burst-capacity': '-1' }],
  ['annotation /window is valid for class KPA', { window: '7s', class: KPA }],
  ['annotation /window is valid for other than HPA and KPA class', { window: '7s', class: 'test' }],
  ['valid 0 last pod scaledown timeout', { 'scale-to-zero-pod-retention-period': '0' }],
  ['valid positive last pod scaledown timeout', { 'scale-to-zero-pod-retention-period': '21m31s' }],
  ['valid 0 scale down delay', { 'scale-down-delay': '0' }],
  ['valid positive scale down delay', { 'scale-down-delay': '21m31s' }],
  [
    'all together now, succeed',
    {
      'panic-threshold-percentage': '125',
      'panic-window-percentage': '75',
      'min-scale': '5',
      'max-scale': '8',
      window: '1984s',
    },
  ],
  ['valid class KPA with metric RPS', { metric: 'rps' }],
  ['valid class KPA with metric Concurrency', { metric: 'concurrency' }],
  ['valid class HPA with metric CPU', { class: HPA, metric: 'cpu' }],
  ['other than HPA and KPA class', { class: 'other', metric: 'rps' }],
  ['valid global class HPA with metric CPU', { metric: 'cpu' }, { podAutoscalerClass: HPA }],
  [
    'initial scale is zero and cluster allows',
    { 'initial-scale': '0' },
    { allowZeroInitialScale: true },
  ],
  ['initial scale is greater than 0', { 'initial-scale': '2' }],
  // Not upstream's rows: the ends of ranges.
  ['the largest scale', { 'max-scale': '2147483647' }],
  ['a retention that is no whole second', { 'scale-to-zero-pod-retention-period': '1.5s' }],
  ['the smallest target', { target: '0.01' }],
];

test.each(TAKEN.map(([name, texts, over = {}]) => ({ name, texts, over })))(
  'parseAutoscalingAnnotations takes: $name',
  ({ texts, over }) => {
    expect(parseAutoscalingAnnotations(withGroup(texts), { ...DEFAULTS, ...over }).faults).toEqual(
      [],
    );
  },
);

const REFUSED: readonly (readonly [
  name: string,
  texts: Texts,
  messages: readonly string[],
  over?: Over,
])[] = [
  [
    'invalid class',
    { class: 'unsupported.knative.dev' },
    [`invalid value: unsupported.knative.dev: ${G}class`],
  ],
  ['minScale is -1', { 'min-scale': '-1' }, [`expected 0 <= -1 <= 2147483647: ${G}min-scale`]],
  [
    'maxScale is huuuuuuuge',
    { 'max-scale': '2147483648' },
    [`expected 0 <= 2147483648 <= 2147483647: ${G}max-scale`],
  ],
  ['maxScale is -1', { 'max-scale': '-1' }, [`expected 0 <= -1 <= 2147483647: ${G}max-scale`]],
  ['minScale is foo', { 'min-scale': 'foo' }, [`invalid value: foo: ${G}min-scale`]],
  ['maxScale is bar', { 'max-scale': 'bar' }, [`invalid value: bar: ${G}max-scale`]],
  [
    'max/minScale is bar',
    { 'max-scale': 'bar', 'min-scale': 'bar' },
    [`invalid value: bar: ${G}max-scale`, `invalid value: bar: ${G}min-scale`],
  ],
  [
    'minScale is 5, maxScale is 2',
    { 'min-scale': '5', 'max-scale': '2' },
    [`max-scale=2 is less than min-scale=5: ${G}max-scale, ${G}min-scale`],
  ],
  [
    'maxScale is greater than MaxScaleLimit when in create',
    { 'max-scale': '11' },
    [`expected 1 <= 11 <= 10: ${G}max-scale`],
    { maxScaleLimit: 10 },
  ],
  [
    'maxScale is greater than MaxScaleLimit when in create and default MaxScale is set',
    { 'max-scale': '20' },
    [`expected 1 <= 20 <= 10: ${G}max-scale`],
    { maxScaleLimit: 10, maxScale: 11 },
  ],
  [
    'maxScale is explicitly set to 0 when MaxScaleLimit and default MaxScale are set',
    { 'max-scale': '0' },
    [`max-scale=0 (unlimited), must be less than 10: ${G}max-scale`],
    { maxScaleLimit: 10, maxScale: 1 },
  ],
  [
    'min-scale is greater than activation-scale',
    { 'min-scale': '3', 'activation-scale': '2' },
    [`min-scale=3 is greater than activation-scale=2: ${G}activation-scale`],
  ],
  [
    'max-scale is less than activation-scale',
    { 'max-scale': '1', 'activation-scale': '2' },
    [`max-scale=1 is less than activation-scale=2: ${G}activation-scale`],
  ],
  [
    'random algorithm on KPA',
    { 'metric-aggregation-algorithm': 'random-selection', class: KPA },
    [`invalid value: random-selection: ${G}metric-aggregation-algorithm`],
  ],
  [
    'panic window percentage bad',
    { 'panic-window-percentage': '-1' },
    [`expected 1 <= -1 <= 100: ${G}panic-window-percentage`],
  ],
  [
    'panic window percentage bad2',
    { 'panic-window-percentage': '202' },
    [`expected 1 <= 202 <= 100: ${G}panic-window-percentage`],
  ],
  [
    'panic window percentage bad3',
    { 'panic-window-percentage': 'fifty' },
    [`invalid value: fifty: ${G}panic-window-percentage`],
  ],
  [
    'panic threshold percentage bad2',
    { 'panic-threshold-percentage': '109' },
    [`expected 110 <= 109 <= 1000: ${G}panic-threshold-percentage`],
  ],
  [
    'panic threshold percentage bad2.5',
    { 'panic-threshold-percentage': '10009' },
    [`expected 110 <= 10009 <= 1000: ${G}panic-threshold-percentage`],
  ],
  [
    'panic threshold percentage bad3',
    { 'panic-threshold-percentage': 'fifty' },
    [`invalid value: fifty: ${G}panic-threshold-percentage`],
  ],
  ['target negative', { target: '-11' }, [`target -11 should be at least 0.01: ${G}target`]],
  ['target 0', { target: '0' }, [`target 0 should be at least 0.01: ${G}target`]],
  ['invalid target', { target: '100}' }, [`invalid value: 100}: ${G}target`]],
  [
    'TBC negative',
    { 'target-burst-capacity': '-11' },
    [`invalid value: -11: ${G}target-burst-capacity`],
  ],
  [
    'TBC invalid',
    { 'target-burst-capacity': 'qarashen' },
    [`invalid value: qarashen: ${G}target-burst-capacity`],
  ],
  [
    'TU too small',
    { 'target-utilization-percentage': '0' },
    [`expected 1 <= 0 <= 100: ${G}target-utilization-percentage`],
  ],
  [
    'TU too big',
    { 'target-utilization-percentage': '101' },
    [`expected 1 <= 101 <= 100: ${G}target-utilization-percentage`],
  ],
  [
    'TU invalid',
    { 'target-utilization-percentage': 'dghyak' },
    [`invalid value: dghyak: ${G}target-utilization-percentage`],
  ],
  [
    'window invalid',
    { window: 'jerry-was-a-racecar-driver' },
    [`invalid value: jerry-was-a-racecar-driver: ${G}window`],
  ],
  ['window too short', { window: '1s' }, [`expected 6s <= 1s <= 1h0m0s: ${G}window`]],
  ['window too long', { window: '365h' }, [`expected 6s <= 365h <= 1h0m0s: ${G}window`]],
  [
    'window too precise',
    { window: '1m9s82ms' },
    [`must be specified with at most second precision: ${G}window`],
  ],
  [
    'value too long and valid class for /window annotation',
    { window: '365h', class: KPA },
    [`expected 6s <= 365h <= 1h0m0s: ${G}window`],
  ],
  [
    'invalid positive last pod scaledown timeout',
    { 'scale-to-zero-pod-retention-period': '311m' },
    [`expected 0s <= 311m <= 1h0m0s: ${G}scale-to-zero-pod-retention-period`],
  ],
  [
    'invalid negative last pod scaledown timeout',
    { 'scale-to-zero-pod-retention-period': '-42s' },
    [`expected 0s <= -42s <= 1h0m0s: ${G}scale-to-zero-pod-retention-period`],
  ],
  [
    'invalid last pod scaledown timeout',
    { 'scale-to-zero-pod-retention-period': 'twenty-two-minutes-and-five-seconds' },
    [
      'invalid value: twenty-two-minutes-and-five-seconds: ' +
        `${G}scale-to-zero-pod-retention-period`,
    ],
  ],
  [
    'invalid positive scale down delay',
    { 'scale-down-delay': '311m' },
    [`expected 0s <= 311m <= 1h0m0s: ${G}scale-down-delay`],
  ],
  [
    'invalid positive scale down delay - too precise',
    { 'scale-down-delay': '42.5s' },
    [`must be specified with at most second precision: ${G}scale-down-delay`],
  ],
  [
    'invalid negative scale down delay',
    { 'scale-down-delay': '-42s' },
    [`expected 0s <= -42s <= 1h0m0s: ${G}scale-down-delay`],
  ],
  [
    'invalid scale down delay',
    { 'scale-down-delay': 'twenty-two-minutes-and-five-seconds' },
    [`invalid value: twenty-two-minutes-and-five-seconds: ${G}scale-down-delay`],
  ],
  [
    'all together now fail',
    {
      'panic-threshold-percentage': 'fifty',
      'panic-window-percentage': '-11',
      'min-scale': '-4',
      'max-scale': 'never',
    },
    [
      `expected 0 <= -4 <= 2147483647: ${G}min-scale`,
      `expected 1 <= -11 <= 100: ${G}panic-window-percentage`,
      `invalid value: fifty: ${G}panic-threshold-percentage`,
      `invalid value: never: ${G}max-scale`,
    ],
  ],
  ['invalid metric for default class(KPA)', { metric: 'cpu' }, [`invalid value: cpu: ${G}metric`]],
  ['invalid metric for HPA class', { metric: '', class: HPA }, [`invalid value: : ${G}metric`]],
  [
    "initial scale is zero but cluster doesn't allow",
    { 'initial-scale': '0' },
    [`invalid value: 0: ${G}initial-scale=0 not allowed by cluster`],
  ],
  [
    'initial scale is less than 0',
    { 'initial-scale': '-1' },
    [`invalid value: -1: ${G}initial-scale must be greater than 0`],
  ],
  [
    'initial scale non-parseable',
    { 'initial-scale': 'invalid' },
    [`invalid value: invalid: ${G}initial-scale`],
  ],
  // Not upstream's rows.
  [
    'activation-scale is 1',
    { 'activation-scale': '1' },
    [`activation-scale=1 must be greater than 1: ${G}activation-scale`],
  ],
  [
    'activation-scale is no number',
    { 'activation-scale': '5s' },
    [`invalid value: 5s: ${G}activation-scale`],
  ],
  [
    'a fault is at the name that is written',
    { minScale: '5', maxScale: '2' },
    [`max-scale=2 is less than min-scale=5: ${G}maxScale, ${G}minScale`],
  ],
  [
    'a misspelt annotation',
    { 'min-scal': '1' },
    [`${G}min-scal is not a known key; did you mean ${G}min-scale?`],
  ],
  [
    'a camelCase name that never was',
    { activationScale: '2' },
    [`${G}activationScale is not a known key; did you mean ${G}activation-scale?`],
  ],
];

test.each(REFUSED.map(([name, texts, messages, over = {}]) => ({ name, texts, messages, over })))(
  'parseAutoscalingAnnotations refuses: $name',
  ({ texts, messages, over }) => {
    const { value, faults } = parseAutoscalingAnnotations(withGroup(texts), {
      ...DEFAULTS,
      ...over,
    });
    expect(value).toBeUndefined();
    expect(faults.map(({ message }) => message).toSorted()).toEqual(messages);
    for (const { key, message } of faults) {
      expect(Object.keys(withGroup(texts))).toContain(key);
      expect(message).toContain(key);
    }
  },
);

import { expect, test } from 'vitest';
import { DEFAULT_BEHAVIOR, type HpaConfig } from '#infra/autoscaling/hpa/hpa-config.ts';
import { must } from '#kernel/core/assert.ts';
import { GROUP, HPA_CLASS } from './annotation-keys.ts';
import { parseAutoscalingAnnotations } from './autoscaling-annotations.ts';
import { parseConfigAutoscaler, type AutoscalerConfig } from './config-autoscaler.ts';
import type { Parsed } from './config-fault.ts';
import { resolveHpaClass } from './resolve-hpa-class.ts';

const DEFAULTS = must(parseConfigAutoscaler({}).value, 'the default configuration');
const REQUESTS = { cpuRequestMillis: 250, memoryRequestBytes: 64 * 1_048_576 };

type Texts = Readonly<Record<string, string>>;

function resolve(
  texts: Texts,
  over: Partial<AutoscalerConfig> = {},
  reachable = true,
): Parsed<HpaConfig> {
  const config = { ...DEFAULTS, ...over };
  const keys = Object.entries({ class: HPA_CLASS, ...texts }).map(([name, text]) => [
    `${GROUP}/${name}`,
    text,
  ]);
  const { value, faults } = parseAutoscalingAnnotations(Object.fromEntries(keys), config);
  expect(faults).toEqual([]);
  return resolveHpaClass(must(value, 'annotations'), config, { ...REQUESTS, reachable });
}

const CPU_80 = [{ kind: 'cpu', utilizationPercent: 80, averageValue: null }] as const;
const { scaleUp, scaleDown } = DEFAULT_BEHAVIOR;

/**
 * TestMakeHPA, knative/serving pkg/reconciler/autoscaling/hpa/resources/hpa_test.go, commit 98e5ef90; what
 * upstream leaves out has the API's default here: minReplicas 1, 80 % of CPU.
 */
test.each<readonly [name: string, texts: Texts, expected: Partial<HpaConfig>]>([
  ['defaults', {}, { minReplicas: 1, maxReplicas: 2_147_483_647, metrics: CPU_80 }],
  ['with lower bound', { 'min-scale': '5' }, { minReplicas: 5, maxReplicas: 2_147_483_647 }],
  ['with upper bound', { 'max-scale': '5' }, { minReplicas: 1, maxReplicas: 5 }],
  [
    'with an actual cpu target',
    { target: '50', metric: 'cpu' },
    { metrics: [{ kind: 'cpu', utilizationPercent: 50, averageValue: null }] },
  ],
  [
    'with an actual memory target',
    { target: '50', metric: 'memory' },
    { metrics: [{ kind: 'memory', utilizationPercent: null, averageValue: 50 * 1_048_576 }] },
  ],
  [
    'with an actual fractional target',
    { target: '1982.4', metric: 'cpu' },
    { metrics: [{ kind: 'cpu', utilizationPercent: 1983, averageValue: null }] },
  ],
  [
    'with window annotation',
    { target: '50', metric: 'cpu', window: '60s' },
    {
      metrics: [{ kind: 'cpu', utilizationPercent: 50, averageValue: null }],
      behavior: {
        scaleUp: { ...scaleUp, stabilizationWindowMs: 60_000 },
        scaleDown: { ...scaleDown, stabilizationWindowMs: 60_000 },
      },
    },
  ],
  // Not upstream's rows.
  ['a minimum of 0', { 'min-scale': '0' }, { minReplicas: 1 }],
  [
    'the metric is cpu where only a target is written',
    { target: '75' },
    { metrics: [{ kind: 'cpu', utilizationPercent: 75, averageValue: null }] },
  ],
  ['memory without a target', { metric: 'memory' }, { metrics: CPU_80 }],
  [
    'memory by whole mebibytes',
    { target: '1.9', metric: 'memory' },
    { metrics: [{ kind: 'memory', utilizationPercent: null, averageValue: 1_048_576 }] },
  ],
  [
    'requests a second',
    { target: '12.9', metric: 'rps' },
    { metrics: [{ kind: 'rps', averageValue: 12 }] },
  ],
  ['without a window', {}, { behavior: null }],
  [
    "what replicas request, and the controller's settings",
    {},
    { ...REQUESTS, syncPeriodMs: 15_000, tolerance: 0.1, downscaleStabilizationMs: 300_000 },
  ],
])('resolveHpaClass: %s', (_, texts, expected) => {
  const { value, faults } = resolve(texts);
  expect(faults).toEqual([]);
  expect(value).toMatchObject(expected);
});

test('bounds come from the ConfigMap where annotations say nothing', () => {
  const bounds = { minScale: 2, maxScale: 7 };
  expect(resolve({}, bounds).value).toMatchObject({ minReplicas: 2, maxReplicas: 7 });
  expect(resolve({}, bounds, false).value).toMatchObject({ minReplicas: 1, maxReplicas: 7 });
});

test.each<readonly [name: string, texts: Texts, key: string, message: string]>([
  [
    'with custom metric',
    { target: '50', metric: 'customMetric' },
    'metric',
    'is customMetric; only cpu, memory, concurrency and rps are measured here',
  ],
  [
    'less than a mebibyte',
    { target: '0.5', metric: 'memory' },
    'target',
    'is 0.5; for the metric memory it is cut off to 0 and must be at least 1',
  ],
  [
    'a maximum below the minimum of the ConfigMap',
    { 'max-scale': '3' },
    'max-scale',
    'is 3, it must not be below the minimum of 4',
  ],
])('resolveHpaClass refuses: %s', (_, texts, name, message) => {
  const key = `${GROUP}/${name}`;
  expect(resolve(texts, { minScale: 4 }).faults).toContainEqual({
    key,
    message: `${key} ${message}`,
  });
});

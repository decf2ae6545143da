import { expect, test } from 'vitest';
import { CONTROLLER_DEFAULTS, DEFAULT_BEHAVIOR } from './hpa-config.ts';
import { FLAG_ANNOTATIONS } from './read-controller-flags.ts';
import { readHpa } from './read-hpa.ts';

const REQUESTS = { cpuRequestMillis: 250, memoryRequestBytes: null };

const manifest = (spec: object, annotations?: Readonly<Record<string, unknown>>): object => ({
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name: 'stage', ...(annotations === undefined ? {} : { annotations }) },
  spec: { scaleTargetRef: { kind: 'Deployment', name: 'stage' }, maxReplicas: 4, ...spec },
});

const resource = (name: string, target: object): object => ({
  type: 'Resource',
  resource: { name, target },
});

test("what is not said has the API's and the controller's defaults", () => {
  expect(readHpa(manifest({}), REQUESTS)).toEqual({
    value: {
      minReplicas: 1,
      maxReplicas: 4,
      metrics: [{ kind: 'cpu', utilizationPercent: 80, averageValue: null }],
      behavior: null,
      ...CONTROLLER_DEFAULTS,
      ...REQUESTS,
    },
    faults: [],
  });
  expect(readHpa(manifest({ metrics: [] }), REQUESTS)).toEqual(readHpa(manifest({}), REQUESTS));
});

test.each([
  ['cpu', { type: 'Utilization', averageUtilization: 60 }, 60, null],
  ['cpu', { type: 'AverageValue', averageValue: '250m' }, null, 250],
  ['cpu', { type: 'AverageValue', averageValue: 2 }, null, 2_000],
  ['cpu', { type: 'AverageValue', averageValue: '0.5' }, null, 500],
  ['memory', { type: 'AverageValue', averageValue: '128Mi' }, null, 134_217_728],
  ['memory', { type: 'AverageValue', averageValue: '1G' }, null, 1_000_000_000],
  ['memory', { type: 'AverageValue', averageValue: 4_096 }, null, 4_096],
])('metric %s %j', (name, target, utilizationPercent, averageValue) => {
  const { value } = readHpa(manifest({ metrics: [resource(name, target)] }), REQUESTS);
  expect(value?.metrics).toEqual([{ kind: name, utilizationPercent, averageValue }]);
});

test("an empty behavior is one: it has the API's defaults", () => {
  expect(readHpa(manifest({ behavior: {} }), REQUESTS).value?.behavior).toEqual(DEFAULT_BEHAVIOR);
});

test('behavior: what is named replaces the default of its direction, the rest stays', () => {
  const behavior = {
    scaleUp: { stabilizationWindowSeconds: 30, tolerance: '0.05' },
    scaleDown: {
      selectPolicy: 'Min',
      tolerance: 0,
      policies: [
        { type: 'Pods', value: 1, periodSeconds: 5 },
        { type: 'Percent', value: 50, periodSeconds: 1_800 },
      ],
    },
  };
  const { value } = readHpa(manifest({ behavior }), REQUESTS);
  expect(value?.behavior).toEqual({
    scaleUp: { ...DEFAULT_BEHAVIOR.scaleUp, stabilizationWindowMs: 30_000, tolerance: 0.05 },
    scaleDown: {
      stabilizationWindowMs: null,
      selectPolicy: 'Min',
      tolerance: 0,
      policies: [
        { type: 'Pods', value: 1, periodMs: 5_000 },
        { type: 'Percent', value: 50, periodMs: 1_800_000 },
      ],
    },
  });
});

test("annotations say what a cluster's controller is started with", () => {
  const annotations = {
    'tachograph.io/sync-period': '2s',
    'tachograph.io/tolerance': '0.2',
    'tachograph.io/cpu-initialization-period': '0s',
    'tachograph.io/initial-readiness-delay': '500ms',
    'tachograph.io/downscale-stabilization': '1m',
    'tachograph.io/metric-window': '5s',
  };
  expect(Object.keys(annotations).toSorted()).toEqual([...FLAG_ANNOTATIONS].toSorted());
  const { value } = readHpa(manifest({}, annotations), REQUESTS);
  expect(value).toMatchObject({
    syncPeriodMs: 2_000,
    tolerance: 0.2,
    cpuInitializationPeriodMs: 0,
    initialReadinessDelayMs: 500,
    downscaleStabilizationMs: 60_000,
    metricWindowMs: 5_000,
  });
});

const utilization = { type: 'Utilization', averageUtilization: 80 };
const policies = (policy: object): object => ({ behavior: { scaleUp: { policies: [policy] } } });

test.each<readonly [spec: object, path: string, message: string]>([
  [{ maxReplicas: undefined }, 'spec', 'maxReplicas is missing'],
  [{ maxReplicas: 0 }, 'spec.maxReplicas', 'maxReplicas is 0; it must be an integer from 1 to 256'],
  [
    { maxReplicas: 257 },
    'spec.maxReplicas',
    'maxReplicas is 257; it must be an integer from 1 to 256',
  ],
  [
    { maxReplicas: '4' },
    'spec.maxReplicas',
    'maxReplicas is "4"; it must be an integer from 1 to 256',
  ],
  [{ minReplicas: 0 }, 'spec.minReplicas', 'minReplicas is 0; it must be an integer from 1 to 256'],
  [{ minReplicas: 5 }, 'spec.minReplicas', 'minReplicas 5 is more than maxReplicas 4'],
  [{ metrics: {} }, 'spec.metrics', 'metrics must be a list of at most 16'],
  [
    { metrics: Array(17).fill(resource('cpu', utilization)) },
    'spec.metrics',
    'metrics must be a list of at most 16',
  ],
  [{ metrics: [{ type: 'Pods' }] }, 'spec.metrics.0.type', 'type is "Pods"; use Resource'],
  [
    { metrics: [resource('disk', utilization)] },
    'spec.metrics.0.resource.name',
    'name is "disk"; use cpu, memory',
  ],
  [
    { metrics: [resource('memory', utilization)] },
    'spec.metrics',
    'a utilisation of memory needs a request of memory on the Deployment',
  ],
  [
    { metrics: [resource('cpu', { type: 'Utilization' })] },
    'spec.metrics.0.resource.target',
    'averageUtilization is missing',
  ],
  [
    { metrics: [resource('cpu', { type: 'AverageValue', averageValue: '1Mi' })] },
    'spec.metrics.0.resource.target.averageValue',
    'averageValue must be a quantity of CPU such as 250m',
  ],
  [
    { metrics: [resource('memory', { type: 'AverageValue', averageValue: '0' })] },
    'spec.metrics.0.resource.target.averageValue',
    'averageValue must be a quantity of memory such as 128Mi',
  ],
  [
    { behavior: { scaleDown: { selectPolicy: 'max' } } },
    'spec.behavior.scaleDown.selectPolicy',
    'selectPolicy is "max"; use Max, Min, Disabled',
  ],
  [
    { behavior: { scaleDown: { stabilizationWindowSeconds: 3_601 } } },
    'spec.behavior.scaleDown.stabilizationWindowSeconds',
    'stabilizationWindowSeconds is 3601; it must be an integer from 0 to 3600',
  ],
  [
    { behavior: { scaleUp: { policies: [] } } },
    'spec.behavior.scaleUp.policies',
    'policies must be a list of 1 to 16',
  ],
  [
    policies({ type: 'Pods', value: 1, periodSeconds: 1_801 }),
    'spec.behavior.scaleUp.policies.0.periodSeconds',
    'periodSeconds is 1801; it must be an integer from 1 to 1800',
  ],
  [
    policies({ type: 'Pods', periodSeconds: 1 }),
    'spec.behavior.scaleUp.policies.0',
    'value is missing',
  ],
])('fault: %j', (spec, path, message) => {
  const { value, faults } = readHpa(manifest(spec), REQUESTS);
  expect(value).toBeUndefined();
  expect(faults).toContainEqual({ path: path.split('.'), message });
});

test.each([
  ['sync-period', '99ms', 'use a duration from 100ms to 1h, such as 15s'],
  ['sync-period', '61m', 'use a duration from 100ms to 1h, such as 15s'],
  ['metric-window', '999ms', 'use a duration from 1000ms to 1h, such as 15s'],
  ['downscale-stabilization', '5', 'use a duration from 0ms to 1h, such as 15s'],
  ['tolerance', '11', 'it must be a number from 0 to 10'],
])('fault: annotation %s %s', (name, text, remedy) => {
  const key = `tachograph.io/${name}`;
  const { faults } = readHpa(manifest({}, { [key]: text }), REQUESTS);
  const message = `${key} is "${text}"; ${remedy}`;
  expect(faults).toEqual([{ path: ['metadata', 'annotations', key], message }]);
});

test('an annotation without quotes is a number in YAML, which a cluster refuses', () => {
  const key = 'tachograph.io/tolerance';
  const { faults } = readHpa(manifest({}, { [key]: 0.2 }), REQUESTS);
  expect(faults.map(({ message }) => message)).toEqual([
    `${key} is 0.2; it must be text: put it in quotes`,
  ]);
});

test('all faults are told at once', () => {
  const { faults } = readHpa(manifest({ maxReplicas: 0, behavior: { scaleUp: { policies: 1 } } }), {
    ...REQUESTS,
    cpuRequestMillis: null,
  });
  expect(faults).toHaveLength(3);
});

import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { EXPERIMENT_OVERLAY, experimentOverlay } from './experiment-overlay.ts';
import { readExperiment, withPolicy } from './read-experiment.ts';
import type { Experiment, PolicyChoice } from './experiment.ts';

const step = readExperiment(await readFile('loadtest/experiments/step.yaml', 'utf8'), 'step.yaml');

interface Overlay {
  readonly kustomization: {
    readonly resources: readonly string[];
    readonly components?: readonly string[];
    readonly patches?: readonly { readonly target: object; readonly path: string }[];
  };
  /** Operations by file name. */
  readonly patches: Readonly<Record<string, readonly { path: string; value: unknown }[]>>;
}

function overlayOf(experiment: Experiment, policy: PolicyChoice): Overlay {
  const files = experimentOverlay(withPolicy(experiment, policy));
  const entries = Object.entries(files).map(
    ([path, text]) => [path.slice(EXPERIMENT_OVERLAY.length + 1), parse(text) as unknown] as const,
  );
  const { 'kustomization.yaml': kustomization, ...patches } = Object.fromEntries(entries);
  return { kustomization, patches } as Overlay;
}

const BARE: Experiment = { ...step, stages: {}, policies: {} };

test('experimentOverlay without changes: the local overlay and nothing else', () => {
  expect(overlayOf(BARE, { kind: 'kpa' })).toEqual({
    kustomization: {
      apiVersion: 'kustomize.config.k8s.io/v1beta1',
      kind: 'Kustomization',
      resources: ['../local'],
    },
    patches: {},
  });
});

test.each<[PolicyChoice['kind'], readonly string[] | undefined]>([
  ['kpa', undefined],
  ['hpa', ['../../components/scale-hpa']],
  ['keda', ['../../components/as-deployments', '../../components/scale-keda']],
  ['node', ['../../components/as-deployments', '../../components/scale-node']],
  ['fixed', undefined],
])('experimentOverlay + %s: its components', (kind, components) => {
  expect(overlayOf(step, { kind } as PolicyChoice).kustomization.components).toEqual(components);
});

const STAGE: Experiment = {
  ...BARE,
  stages: {
    'data-processing': {
      annotations: {
        'autoscaling.knative.dev/target': '1',
        'tachograph.io/start-delay': '1200ms',
      },
      resources: { cpuRequest: 0.05, cpuLimit: 0.3, memoryRequest: '64Mi', memoryLimit: '256Mi' },
      containerConcurrency: 1,
      maxInFlight: 12,
    },
  },
};

test('experimentOverlay + what a stage changes: at the Service and its Triggers', () => {
  const { kustomization, patches } = overlayOf(STAGE, { kind: 'kpa' });
  expect(kustomization.patches).toEqual([
    {
      target: { group: 'serving.knative.dev', kind: 'Service', name: 'data-processing' },
      path: 'data-processing.yaml',
    },
    {
      target: { group: 'eventing.knative.dev', kind: 'Trigger', name: '.*-data-processing' },
      path: 'triggers-data-processing.yaml',
    },
  ]);
  const template = '/spec/template/metadata/annotations';
  const resources = '/spec/template/spec/containers/0/resources';
  expect(patches).toEqual({
    'data-processing.yaml': [
      { op: 'add', path: `${template}/autoscaling.knative.dev~1target`, value: '1' },
      { op: 'add', path: '/metadata/annotations/tachograph.io~1start-delay', value: '1200ms' },
      { op: 'add', path: `${resources}/requests/cpu`, value: '50m' },
      { op: 'add', path: `${resources}/requests/memory`, value: '64Mi' },
      { op: 'add', path: `${resources}/limits/cpu`, value: '300m' },
      { op: 'add', path: `${resources}/limits/memory`, value: '256Mi' },
      { op: 'add', path: '/spec/template/spec/containerConcurrency', value: 1 },
    ],
    'triggers-data-processing.yaml': [
      { op: 'add', path: '/metadata/annotations/tachograph.io~1max-in-flight', value: '12' },
    ],
  });
});

test('experimentOverlay + keda: the stage is a Deployment, which knows nothing of Knative', () => {
  const { kustomization, patches } = overlayOf(STAGE, { kind: 'keda' });
  expect(kustomization.patches?.[0]?.target).toEqual({
    group: 'apps',
    kind: 'Deployment',
    name: 'data-processing',
  });
  const paths = patches['data-processing.yaml']?.map(({ path }) => path) ?? [];
  expect(paths).toContain('/metadata/annotations/tachograph.io~1start-delay');
  expect(paths.filter((path) => /knative|containerConcurrency/.test(path))).toEqual([]);
});

test("experimentOverlay: a stage's own annotation comes after the policy's for all stages", () => {
  const experiment: Experiment = {
    ...STAGE,
    policies: { kpa: { annotations: { 'autoscaling.knative.dev/target': '7' } } },
  };
  const { kustomization } = overlayOf(experiment, { kind: 'kpa' });
  const paths = kustomization.patches?.map(({ path }) => path) ?? [];
  expect(paths.indexOf('kpa-data-processing.yaml')).toBeGreaterThanOrEqual(0);
  expect(paths.indexOf('data-processing.yaml')).toBeGreaterThan(
    paths.indexOf('kpa-data-processing.yaml'),
  );
});

test('experimentOverlay + kpa: keys of the ConfigMap', () => {
  const { patches } = overlayOf(step, { kind: 'kpa' });
  expect(patches['config-autoscaler.yaml']).toContainEqual({
    op: 'add',
    path: '/data/scale-to-zero-grace-period',
    value: '6s',
  });
});

test('experimentOverlay + keda, node: the fields of their objects', () => {
  const keda = overlayOf(step, { kind: 'keda' }).patches['scaled-objects.yaml'];
  expect(keda).toContainEqual({ op: 'add', path: '/spec/cooldownPeriod', value: 9 });
  expect(keda).toContainEqual({
    op: 'add',
    path: '/spec/triggers/0/metadata/lagThreshold',
    value: '1',
  });
  const node = overlayOf(step, { kind: 'node' }).patches['node-scaler.yaml'];
  expect(node).toContainEqual({ op: 'add', path: '/spec/maxNodes', value: 4 });
});

test('experimentOverlay + fixed: minimum and maximum of each stage', () => {
  const { patches } = overlayOf(step, { kind: 'fixed' });
  const scale = (file: string): unknown =>
    patches[file]?.find(({ path }) => path.endsWith('~1min-scale'))?.value;
  expect(scale('fixed-data-processing.yaml')).toBe('4');
  expect(scale('fixed-export.yaml')).toBe('1');
});

test("experimentOverlay + a policy of one's own: its file, config and period where it scales", () => {
  const experiment: Experiment = {
    ...BARE,
    policies: { custom: { config: { perReplicaPerS: 4 }, periodS: 2 } },
  };
  const module = 'examples/policies/drain-in-time.ts';
  const { patches } = overlayOf(experiment, { kind: 'custom', module });
  expect(Object.keys(patches).sort()).toEqual([
    'custom-data-processing.yaml',
    'custom-data-provider.yaml',
    'custom-export.yaml',
  ]);
  expect(patches['custom-export.yaml']).toEqual([
    { op: 'add', path: '/metadata/annotations/tachograph.io~1policy', value: module },
    {
      op: 'add',
      path: '/metadata/annotations/tachograph.io~1policy-config',
      value: '{"perReplicaPerS":4}',
    },
    { op: 'add', path: '/metadata/annotations/tachograph.io~1policy-period', value: '2s' },
  ]);
});

test("experimentOverlay + a policy of one's own for some stages: the others keep kpa's settings", () => {
  const experiment: Experiment = {
    ...BARE,
    policies: {
      custom: { stages: ['export'] },
      kpa: { annotations: { 'autoscaling.knative.dev/window': '8s' } },
    },
  };
  const { patches } = overlayOf(experiment, { kind: 'custom', module: 'a.ts' });
  expect(Object.keys(patches).sort()).toEqual([
    'custom-export.yaml',
    'kpa-campaign.yaml',
    'kpa-data-processing.yaml',
    'kpa-data-provider.yaml',
    'kpa-device-communication.yaml',
  ]);
});

test('experimentOverlay + schedule: the time-table of each stage', () => {
  const { patches } = overlayOf(step, { kind: 'schedule' });
  expect(patches['schedule-data-processing.yaml']?.[0]?.value).toBe('0s=1,8s=4,55s=1');
  expect(patches['schedule-export.yaml']?.[0]?.value).toBe('0s=1');
});

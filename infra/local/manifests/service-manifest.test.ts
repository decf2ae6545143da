import { expect, test } from 'vitest';
import type { LocatedMap } from './located-node.ts';
import { parseYaml } from './parse-yaml.ts';
import { readDeployment, readService } from './service-manifest.ts';

interface Parts {
  readonly name?: string;
  readonly labels?: string;
  readonly annotations?: string;
  readonly podLabels?: string;
  readonly spec?: string;
  readonly containers?: string;
}

function read(parts: Parts = {}) {
  return readService(parseYaml(textOf(parts), 'x.yaml')[0] as LocatedMap);
}

function textOf(parts: Parts, own: readonly string[] = []): string {
  return [
    `metadata:`,
    `  name: ${parts.name ?? 'export'}`,
    `  labels: ${parts.labels ?? '{part: x}'}`,
    `  annotations: ${parts.annotations ?? '{tachograph.io/entry: functions/export/main.ts}'}`,
    `spec:`,
    ...own,
    `  template:`,
    `    metadata: {labels: ${parts.podLabels ?? '{part: y}'}}`,
    `    spec:`,
    `      ${parts.spec ?? 'timeoutSeconds: 20'}`,
    `      containers: ${parts.containers ?? '[{image: a}]'}`,
  ].join('\n');
}

test('readService reads what the local cluster acts on, with defaults as in Knative', () => {
  const { node, ...service } = read();
  expect(node.kind).toBe('map');
  expect(service).toEqual({
    kind: 'Service',
    name: 'export',
    namespace: 'default',
    labels: { part: 'x' },
    podLabels: { part: 'y' },
    entry: 'functions/export/main.ts',
    startDelay: null,
    replicas: null,
    containerConcurrency: 0,
    timeoutMs: 20_000,
    terminationGraceMs: 20_000,
    resources: {
      cpuRequestMillis: null,
      cpuLimitMillis: null,
      memoryRequestBytes: null,
      memoryLimitBytes: null,
    },
    env: [],
    at: { file: 'x.yaml', line: 1 },
  });
  expect(read({ spec: 'containerConcurrency: 4' })).toMatchObject({
    containerConcurrency: 4,
    timeoutMs: 300_000,
    terminationGraceMs: 300_000,
  });
});

test('readService reads the artificial delay of a start as it is written', () => {
  const entry = 'tachograph.io/entry: functions/export/main.ts';
  const annotations = `{${entry}, tachograph.io/start-delay: "lognormal(mean=1.2s,cv=0.3)"}`;
  expect(read({ annotations }).startDelay).toBe('lognormal(mean=1.2s,cv=0.3)');
});

const SELECTOR = '  selector: {matchLabels: {part: y}}';

function readDeploymentOf(own: readonly string[], parts: Parts = {}) {
  const text = textOf({ spec: '{}', ...parts }, own).replace('      {}\n', '');
  return readDeployment(parseYaml(text, 'x.yaml')[0] as LocatedMap);
}

test('readDeployment reads what a Deployment has, with defaults as in Kubernetes', () => {
  expect(readDeploymentOf([SELECTOR])).toMatchObject({
    kind: 'Deployment',
    podLabels: { part: 'y' },
    containerConcurrency: 0,
    timeoutMs: 600_000,
    terminationGraceMs: 30_000,
    replicas: null,
  });
  const spec = 'terminationGracePeriodSeconds: 60';
  expect(readDeploymentOf(['  replicas: 0', SELECTOR], { spec })).toMatchObject({
    terminationGraceMs: 60_000,
    replicas: 0,
  });
});

test.each<readonly [string, readonly string[], Parts, string]>([
  ['without a selector', [], {}, 'x.yaml:1: spec.selector.matchLabels must be some of the labels'],
  [
    'with a selector of other pods',
    ['  selector: {matchLabels: {part: z}}'],
    {},
    'x.yaml:6: spec.selector.matchLabels must be some of the labels of spec.template',
  ],
  ['with an empty selector', ['  selector: {matchLabels: {}}'], {}, 'must be some of the labels'],
  ['with 257 replicas', ['  replicas: 257', SELECTOR], {}, 'x.yaml:6: replicas is 257; it must be'],
  ['with half a replica', ['  replicas: 0.5', SELECTOR], {}, 'an integer from 0 to 256'],
  [
    'with no time to end',
    [SELECTOR],
    { spec: 'terminationGracePeriodSeconds: 0' },
    'terminationGracePeriodSeconds is 0; it must be an integer from 1 to 600',
  ],
  ['without an entry', [SELECTOR], { annotations: '{}' }, 'the Deployment has no annotation'],
])('readDeployment %s throws with file and line', (_, own, parts, message) => {
  expect(() => readDeploymentOf(own, parts)).toThrow(message);
});

test('readDeployment takes 256 replicas', () => {
  expect(readDeploymentOf(['  replicas: 256', SELECTOR]).replicas).toBe(256);
});

test('readService reads variables: a value, a ConfigMap, a Secret', () => {
  const containers = `
        - env:
            - {name: A, value: "1"}
            - {name: B, valueFrom: {configMapKeyRef: {name: m, key: k}}}
            - {name: C, valueFrom: {secretKeyRef: {name: s, key: k, optional: true}}}`;
  expect(read({ containers }).env).toMatchObject([
    { name: 'A', value: '1', at: { line: 12 } },
    { name: 'B', from: { kind: 'ConfigMap', name: 'm', key: 'k', optional: false } },
    { name: 'C', from: { kind: 'Secret', name: 's', key: 'k', optional: true } },
  ]);
});

test.each<readonly [string, Parts, string]>([
  ['without an entry', { annotations: '{}' }, 'x.yaml:1: the Service has no annotation'],
  [
    'with a start delay that is no text',
    {
      annotations: '{tachograph.io/entry: functions/export/main.ts, tachograph.io/start-delay: 5}',
    },
    'x.yaml:4: the annotation tachograph.io/start-delay must be text',
  ],
  ['with a name that is no label', { name: '"../x"' }, 'x.yaml:2: the name "../x" must be'],
  ['with a name of 64 characters', { name: 'a'.repeat(64) }, 'must be 1 to 63'],
  [
    'with a label that is no text',
    { labels: '{part: 1}' },
    'x.yaml:3: the label part must be text',
  ],
  [
    'with a negative concurrency',
    { spec: 'containerConcurrency: -1' },
    'x.yaml:9: containerConcurrency is -1; it must be an integer from 0 to 1000',
  ],
  ['with a concurrency of 1001', { spec: 'containerConcurrency: 1001' }, 'from 0 to 1000'],
  ['with half a second', { spec: 'timeoutSeconds: 0.5' }, 'from 1 to 600'],
  ['with 601 seconds', { spec: 'timeoutSeconds: 601' }, 'from 1 to 600'],
  ['without a container', { containers: '[]' }, 'exactly one container'],
  ['with two containers', { containers: '[{image: a}, {image: b}]' }, 'exactly one container'],
  [
    'with a variable without a name',
    { containers: '[{env: [{value: x}]}]' },
    '"" is not a name of an environment variable',
  ],
  [
    'with a number as a value',
    { containers: '[{env: [{name: A, value: 1}]}]' },
    'the value of A must be text',
  ],
  ['with a variable without a value', { containers: '[{env: [{name: A}]}]' }, 'A needs a value'],
  [
    'with both value and reference',
    { containers: '[{env: [{name: A, value: x, valueFrom: {}}]}]' },
    'A needs a value',
  ],
  [
    'with half a reference',
    { containers: '[{env: [{name: A, valueFrom: {secretKeyRef: {name: s}}}]}]' },
    'secretKeyRef needs a name and a key',
  ],
  [
    'with optional as text',
    {
      containers:
        '[{env: [{name: A, valueFrom: {configMapKeyRef: {name: m, key: k, optional: "no"}}}]}]',
    },
    'optional must be true or false',
  ],
])('readService %s throws with file and line', (_, parts, message) => {
  expect(() => read(parts)).toThrow(message);
});

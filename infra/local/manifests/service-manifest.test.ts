import { expect, test } from 'vitest';
import type { LocatedMap } from './located-node.ts';
import { parseYaml } from './parse-yaml.ts';
import { readService } from './service-manifest.ts';

interface Parts {
  readonly name?: string;
  readonly labels?: string;
  readonly annotations?: string;
  readonly scale?: string;
  readonly spec?: string;
  readonly containers?: string;
}

function read(parts: Parts = {}) {
  const text = [
    `metadata:`,
    `  name: ${parts.name ?? 'export'}`,
    `  labels: ${parts.labels ?? '{part: x}'}`,
    `  annotations: ${parts.annotations ?? '{tachograph.io/entry: functions/export/main.ts}'}`,
    `spec:`,
    `  template:`,
    `    metadata: {annotations: ${parts.scale ?? '{}'}}`,
    `    spec:`,
    `      ${parts.spec ?? 'timeoutSeconds: 20'}`,
    `      containers: ${parts.containers ?? '[{image: a}]'}`,
  ].join('\n');
  return readService(parseYaml(text, 'x.yaml')[0] as LocatedMap);
}

test('readService reads what the local cluster acts on, with defaults as in Knative', () => {
  expect(read()).toEqual({
    name: 'export',
    namespace: 'default',
    labels: { part: 'x' },
    entry: 'functions/export/main.ts',
    replicas: 1,
    containerConcurrency: 0,
    timeoutMs: 20_000,
    env: [],
    at: { file: 'x.yaml', line: 1 },
  });
  expect(read({ spec: 'containerConcurrency: 4' })).toMatchObject({
    containerConcurrency: 4,
    timeoutMs: 300_000,
  });
});

test.each([
  ['"0"', 1],
  ['"1"', 1],
  ['"64"', 64],
])('readService with min-scale %s keeps %i replicas', (text, replicas) => {
  const scale = `{autoscaling.knative.dev/min-scale: ${text}}`;
  expect(read({ scale }).replicas).toBe(replicas);
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
  ['with a name that is no label', { name: '"../x"' }, 'x.yaml:2: the name "../x" must be'],
  ['with a name of 64 characters', { name: 'a'.repeat(64) }, 'must be 1 to 63'],
  [
    'with a label that is no text',
    { labels: '{part: 1}' },
    'x.yaml:3: the label part must be text',
  ],
  [
    'with min-scale as a number',
    { scale: '{autoscaling.knative.dev/min-scale: 1}' },
    'x.yaml:7: autoscaling.knative.dev/min-scale must be text',
  ],
  ['with min-scale 65', { scale: '{autoscaling.knative.dev/min-scale: "65"}' }, 'from "0" to "64"'],
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

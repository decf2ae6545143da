import { expect, test } from 'vitest';
import { checkFields } from './check-fields.ts';
import { CHANNEL_TABLE, FIELD_TABLE } from './field-table.ts';
import type { LocatedMap } from './located-node.ts';
import { parseYaml } from './parse-yaml.ts';

function check(text: string, table = FIELD_TABLE): string[] {
  const [document] = parseYaml(text, 'x.yaml');
  return checkFields(document as LocatedMap, table);
}

const trigger = (rest: string): string =>
  `apiVersion: eventing.knative.dev/v1\nkind: Trigger\nmetadata: {name: t}\n${rest}`;

const serviceOf = (container: string): string =>
  `apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: s}\nspec:\n  template:\n    spec:\n      containers:\n        - ${container}\n`;

test('checkFields of honoured fields reports nothing', () => {
  expect(check(trigger('spec: {broker: default, filter: {attributes: {any: x}}}'))).toEqual([]);
});

test('checkFields reports a field without effect once, however often it is written', () => {
  const inert = check(
    serviceOf('{image: a, resources: {limits: {cpu: 1}}, ports: [{name: b}, {name: c}]}'),
  );
  expect(inert).toEqual([
    'Service spec.template.spec.containers[].image',
    'Service spec.template.spec.containers[].ports',
  ]);
});

test.each([
  [
    'an unknown field',
    trigger('spec:\n  broker: default\n  retries: 3\n'),
    'x.yaml:6: field spec.retries of a Trigger is not known',
  ],
  ['an unknown field at the top', trigger('extra: 1\n'), 'x.yaml:4: field extra of a Trigger'],
  [
    'an unknown annotation',
    trigger('').replace('{name: t}', '{name: t, annotations: {a/b: c}}'),
    'x.yaml:3: field metadata.annotations.a/b',
  ],
  [
    'a field of a list element',
    serviceOf('{envFrom: []}'),
    'x.yaml:8: field spec.template.spec.containers[].envFrom of a Service',
  ],
  [
    'an unknown kind',
    'apiVersion: apps/v1\nkind: StatefulSet\n',
    'x.yaml:1: kind "StatefulSet" is not known here; known: Service, Deployment,',
  ],
  [
    'a kind of Object.prototype',
    'apiVersion: v1\nkind: constructor\n',
    'kind "constructor" is not known',
  ],
  [
    'a wrong version',
    'apiVersion: serving.knative.dev/v1beta1\nkind: Service\n',
    'Service of apiVersion "serving.knative.dev/v1beta1"; only serving.knative.dev/v1, v1 are read',
  ],
  [
    'a map for a plain value',
    trigger('spec: {broker: {name: x}}'),
    'spec.broker of a Trigger must be a plain value',
  ],
  [
    'a plain value for a map',
    trigger('spec: {filter: x}'),
    'spec.filter of a Trigger must hold further fields',
  ],
  ['a list for a map', trigger('spec: [broker]'), 'field spec[] of a Trigger is not known'],
  [
    'a key that looks like a list',
    serviceOf('{image: a}').replace('- {', '"[]": {'),
    'x.yaml:8: field spec.template.spec.containers[]',
  ],
])('checkFields of %s throws with file and line', (_, text, message) => {
  expect(() => check(text)).toThrow(message);
});

test('checkFields tells two kinds of one name apart by their groups', () => {
  const core = 'apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec:\n';
  expect(check(`${core}  selector: {a: b}\n  ports: [{port: 80}]\n`)).toEqual([
    'Service spec.ports',
  ]);
  expect(() => check(`${core}  template: {}\n`)).toThrow('field spec.template of a Service');
  expect(() => check(serviceOf('{image: a}').replace('template', 'selector'))).toThrow(
    'x.yaml:5: field spec.selector of a Service',
  );
});

test.each([
  [
    'spec.brokr of a Trigger is not known to the local cluster; did you mean broker?',
    trigger('spec: {brokr: default}'),
  ],
  [
    'annotations.tachograph.io/max-inflight of a Trigger is not known to the local cluster; did you mean tachograph.io/max-in-flight?',
    trigger('').replace('{name: t}', '{name: t, annotations: {tachograph.io/max-inflight: "1"}}'),
  ],
  // Of another group, and like nothing in its own.
  [
    /annotations\.example\.org\/max-in-flight of a Trigger is not known to the local cluster$/,
    trigger('').replace('{name: t}', '{name: t, annotations: {example.org/max-in-flight: "1"}}'),
  ],
  [
    /annotations\.tachograph\.io\/colour of a Trigger is not known to the local cluster$/,
    trigger('').replace('{name: t}', '{name: t, annotations: {tachograph.io/colour: "1"}}'),
  ],
])('checkFields names the field that was meant: %s', (message, text) => {
  expect(() => check(text)).toThrow(message);
});

// What a policy never reads must not look as if it were honoured.
test.each([
  ['the metadata of a Service', 'autoscaling.knative.dev/min-scale'],
  ['the metadata of a Deployment', 'tachograph.io/sync-period'],
])('checkFields refuses an annotation that does nothing at %s', (_, name) => {
  const knative = name.startsWith('autoscaling');
  const head = knative
    ? 'apiVersion: serving.knative.dev/v1\nkind: Service\n'
    : 'apiVersion: apps/v1\nkind: Deployment\n';
  const text = `${head}metadata:\n  name: s\n  annotations:\n    ${name}: "1"\n`;
  expect(() => check(text)).toThrow(`x.yaml:6: field metadata.annotations.${name} of a`);
});

test('checkFields knows the channel template by a table of its own', () => {
  const channel =
    'apiVersion: messaging.knative.dev/v1alpha1\nkind: NatsJetStreamChannel\nspec: {stream: {config: {maxAge: 1h, replicas: 3}}}\n';
  expect(check(channel, CHANNEL_TABLE)).toEqual([
    'NatsJetStreamChannel spec.stream.config.replicas',
  ]);
  expect(() => check(channel)).toThrow('kind "NatsJetStreamChannel" is not known here');
});

test('FIELD_TABLE has no path in two classes', () => {
  for (const table of [FIELD_TABLE, CHANNEL_TABLE]) {
    for (const { honoured, inert } of Object.values(table)) {
      const paths = [...honoured, ...inert];
      expect(new Set(paths).size).toBe(paths.length);
    }
  }
});

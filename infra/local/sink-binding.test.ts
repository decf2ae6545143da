import { expect, test } from 'vitest';
import type { PlainValue } from './manifests/located-node.ts';
import type { PlainManifest } from './manifests/pipeline-manifests.ts';
import { bindsService, serviceSink, sinkUrl, type Bound } from './sink-binding.ts';

const service: Bound = {
  kind: 'Service',
  name: 'export',
  namespace: 'lab',
  labels: { part: 'x', tier: 'back' },
};

type Spec = { readonly [name: string]: PlainValue };

const binding = (subject: Spec, sink: Spec = { uri: 'http://sink/' }): PlainManifest => ({
  apiVersion: 'sources.knative.dev/v1',
  kind: 'SinkBinding',
  metadata: { name: 'b', namespace: 'lab' },
  spec: { subject: { apiVersion: 'serving.knative.dev/v1', kind: 'Service', ...subject }, sink },
});

test.each([
  ['its name', { name: 'export' }, true],
  ['another name', { name: 'other' }, false],
  ['all its labels', { selector: { matchLabels: { part: 'x', tier: 'back' } } }, true],
  ['one label of two that differs', { selector: { matchLabels: { part: 'x', tier: 'y' } } }, false],
  ['an empty selector', { selector: { matchLabels: {} } }, false],
  ['no selector', {}, false],
  ['another namespace', { name: 'export', namespace: 'other' }, false],
  ['another kind', { kind: 'Deployment', name: 'export' }, false],
])('bindsService by %s is %s', (_, subject, expected) => {
  expect(bindsService(binding(subject as Spec), service)).toBe(expected);
});

const brokerUrl = (broker: { namespace: string; name: string }): string | undefined =>
  broker.name === 'default' ? `http://broker/${broker.namespace}/default` : undefined;

test('sinkUrl of a Broker is its ingress, in the namespace of the binding by default', () => {
  const ref = { kind: 'Broker', name: 'default' };
  expect(sinkUrl(binding({}, { ref }), brokerUrl)).toBe('http://broker/lab/default');
  const other = { ref: { ...ref, namespace: 'far' } };
  expect(sinkUrl(binding({}, other), brokerUrl)).toBe('http://broker/far/default');
});

test.each([
  ['an unknown Broker', { ref: { kind: 'Broker', name: 'nope' } }],
  ['a Service', { ref: { kind: 'Service', name: 'default' } }],
  ['nothing', {}],
])('sinkUrl of %s throws and names the binding', (_, sink) => {
  expect(() => sinkUrl(binding({}, sink as Spec), brokerUrl)).toThrow(/^SinkBinding b: its sink/);
});

test('serviceSink is undefined without a binding, and two bindings are refused', () => {
  expect(serviceSink(service, [binding({ name: 'other' })], brokerUrl)).toBeUndefined();
  expect(serviceSink(service, [binding({ name: 'export' })], brokerUrl)).toBe('http://sink/');
  const twice = [binding({ name: 'export' }), binding({ name: 'export' })];
  expect(() => serviceSink(service, twice, brokerUrl)).toThrow('binds export, as b does already');
});

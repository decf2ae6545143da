import { expect, test } from 'vitest';
import { channelSettings } from './channel-settings.ts';
import type { PlainManifest } from './manifests/pipeline-manifests.ts';

const broker = (name: string, config?: string): PlainManifest => ({
  apiVersion: 'eventing.knative.dev/v1',
  kind: 'Broker',
  metadata: { name, namespace: 'lab' },
  spec: config === undefined ? {} : { config: { kind: 'ConfigMap', name: config } },
});

const template = (maxAge: string): string =>
  `kind: NatsJetStreamChannel\nspec: { stream: { config: { maxAge: ${maxAge} } } }`;

test('channelSettings reads the template of the ConfigMap that the Brokers name', () => {
  const configMaps = { br: { channelTemplateSpec: template('2h') } };
  expect(channelSettings([broker('a', 'br'), broker('b', 'br')], configMaps)).toEqual({
    limits: { maxAgeMs: 7_200_000 },
  });
});

test('channelSettings without a Broker or a config leaves the defaults', () => {
  expect(channelSettings([], {})).toEqual({ limits: {} });
  expect(channelSettings([broker('a')], {})).toEqual({ limits: {} });
});

test('channelSettings refuses different configs, and a ConfigMap that is missing', () => {
  expect(() => channelSettings([broker('a', 'x'), broker('b', 'y')], {})).toThrow('Broker b: all');
  expect(() => channelSettings([broker('a', 'x'), broker('b')], {})).toThrow('Broker b: all');
  expect(() => channelSettings([broker('a', 'x')], {})).toThrow('no ConfigMap "x" with the key');
});

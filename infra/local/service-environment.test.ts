import { expect, test } from 'vitest';
import type { PlainManifest } from './manifests/pipeline-manifests.ts';
import type { EnvironmentVariable } from './manifests/environment-variables.ts';
import { mergeSources, serviceEnvironment } from './service-environment.ts';
import { stageEnvironment } from './replicas/spawn-process.ts';

const at = { file: 'x.yaml', line: 9 };

const service = (env: readonly EnvironmentVariable[]) => ({ name: 'export', env });

const manifest = (kind: string, values: Partial<PlainManifest>): PlainManifest => ({
  apiVersion: 'v1',
  kind,
  metadata: { name: 'lab' },
  ...values,
});

const none = { configMaps: {}, secrets: {} };

test('mergeSources lets given values win key by key, and decodes base64 data of Secrets', () => {
  const sources = mergeSources(
    [manifest('ConfigMap', { data: { a: 'yaml', b: 'yaml' } })],
    [manifest('Secret', { data: { c: 'Z2VoZWlt' }, stringData: { d: 'plain' } })],
    { configMaps: { lab: { b: 'given' }, other: { x: '1' } }, secrets: {} },
  );
  expect(sources).toEqual({
    configMaps: { lab: { a: 'yaml', b: 'given' }, other: { x: '1' } },
    secrets: { lab: { c: 'geheim', d: 'plain' } },
  });
});

test('serviceEnvironment looks references up and lets the platform have the last word', () => {
  const env = service([
    { name: 'PLAIN', value: 'p', at },
    { name: 'PORT', value: '1', at },
    { name: 'FROM_MAP', from: { kind: 'ConfigMap', name: 'lab', key: 'a', optional: false }, at },
    { name: 'FROM_SECRET', from: { kind: 'Secret', name: 'lab', key: 'a', optional: true }, at },
  ]);
  const sources = { configMaps: { lab: { a: 'map' } }, secrets: { lab: { a: 'secret' } } };
  expect(serviceEnvironment(env, sources, 'http://sink')).toEqual({
    PLAIN: 'p',
    FROM_MAP: 'map',
    FROM_SECRET: 'secret',
    PORT: '0',
    K_SERVICE: 'export',
    K_SINK: 'http://sink',
  });
  expect(serviceEnvironment(service([]), none, undefined)).not.toHaveProperty('K_SINK');
});

test.each(['ConfigMap', 'Secret'] as const)(
  'serviceEnvironment with a %s that is missing names it, its key and the line',
  (kind) => {
    const from = { kind, name: 'lab', key: 'a', optional: false };
    const env = service([{ name: 'X', from, at }]);
    expect(() => serviceEnvironment(env, none, undefined)).toThrow(
      `x.yaml:9: there is no ${kind} "lab" with the key "a"`,
    );
  },
);

test.each(['ConfigMap', 'Secret'] as const)(
  'serviceEnvironment with an optional %s that is missing leaves the variable out',
  (kind) => {
    const from = { kind, name: 'lab', key: 'a', optional: true };
    const env = service([{ name: 'X', from, at }]);
    expect(serviceEnvironment(env, none, undefined)).not.toHaveProperty('X');
  },
);

test('stageEnvironment passes a short list on and nothing that may be secret', () => {
  const parent = { PATH: '/bin', HOME: '/root', AWS_SECRET_ACCESS_KEY: 'x', NODE_OPTIONS: '-r x' };
  expect(stageEnvironment(parent, { A: '1' })).toEqual({ PATH: '/bin', A: '1' });
  expect(stageEnvironment(parent, { PATH: '/own' })).toEqual({ PATH: '/own' });
});

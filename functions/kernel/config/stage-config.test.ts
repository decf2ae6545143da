import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { SOFTWARE } from './software.ts';
import { readStageConfig } from './stage-config.ts';

const env = { STORE_URL: 'sqlite:/tmp/store.db' };

test('readStageConfig takes the defaults for what is not set', () => {
  expect(readStageConfig(env)).toEqual({
    port: 8080,
    host: '127.0.0.1',
    socketPath: undefined,
    sink: undefined,
    storeUrl: 'sqlite:/tmp/store.db',
    filesUrl: 'store:',
    engineerTokenSha256: '',
    demand: '',
    demandPlacement: 'inline',
    demandSeed: 1,
    demandCalibration: '',
    tracesUrl: undefined,
    spansUrl: undefined,
    tracingSetup: 'own',
    drainMs: 10_000,
  });
});

test.each([
  [{ ...env, PORT: '65536' }, 'PORT = "65536" is not valid: use 0 to 65535'],
  [{ ...env, PORT: '8o8o' }, 'PORT = "8o8o"'],
  [{ ...env, LISTEN_SOCKET: 'x'.repeat(104) }, 'LISTEN_SOCKET = "(104 characters)" is not valid'],
  [{}, 'STORE_URL = "(not set)"'],
  [{ STORE_URL: 'redis://x' }, 'use sqlite:PATH or mongodb://HOST/DATABASE'],
  [{ ...env, K_SINK: 'nats://x' }, 'K_SINK'],
  [{ ...env, OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, 'OTEL_EXPORTER_OTLP_ENDPOINT'],
  [{ ...env, FILES_URL: 's3:x' }, 'FILES_URL'],
  [{ ...env, SPANS_URL: 'folder:x' }, 'SPANS_URL'],
  [{ ...env, TRACING_SETUP: 'auto' }, 'TRACING_SETUP = "auto" is not valid: use own or sdk-node'],
  [{ ...env, DEMAND_PLACEMENT: 'workers:65' }, 'DEMAND_PLACEMENT = "workers:65"'],
  [{ ...env, DEMAND_PLACEMENT: 'workers:0' }, 'use inline, or workers:1 to workers:64'],
  [{ ...env, DEMAND_SEED: '-1' }, 'DEMAND_SEED = "-1" is not valid'],
  [{ ...env, ENGINEER_TOKEN_SHA256: 'abc' }, 'use 64 lower-case hex digits'],
])('readStageConfig refuses %j and names the variable', (bad, message) => {
  expect(() => readStageConfig(bad)).toThrow(message);
});

test('readStageConfig reads where demands run, up to the largest number of workers', () => {
  const config = readStageConfig({ ...env, DEMAND_PLACEMENT: 'workers:64', DEMAND_SEED: '7' });
  expect(config).toMatchObject({ demandPlacement: { workers: 64 }, demandSeed: 7 });
});

test('readStageConfig reads the longest path of a socket', () => {
  const socketPath = `/${'x'.repeat(102)}`;
  expect(readStageConfig({ ...env, LISTEN_SOCKET: socketPath })).toMatchObject({ socketPath });
});

test.each([
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318' }, 'http://c:4318/v1/traces'],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318/otlp/' }, 'http://c:4318/otlp/v1/traces'],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://c:4318/t' }, 'http://c:4318/t'],
  [
    { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://t', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c' },
    'https://t',
  ],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: '' }, undefined],
])('readStageConfig + %j sends spans to %s', (variables, tracesUrl) => {
  expect(readStageConfig({ ...env, ...variables }).tracesUrl).toBe(tracesUrl);
});

test.each([
  ['true', undefined],
  ['TRUE', undefined],
  ['', 'http://c/v1/traces'],
  // By the standard every other value means false.
  ['1', 'http://c/v1/traces'],
])('OTEL_SDK_DISABLED=%s sends spans to %s', (OTEL_SDK_DISABLED, url) => {
  const variables = { SPANS_URL: 'http://c/v1/traces', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c' };
  const { spansUrl, tracesUrl } = readStageConfig({ ...env, ...variables, OTEL_SDK_DISABLED });
  expect([spansUrl, tracesUrl]).toEqual([url, url]);
});

test('readStageConfig never quotes a store URL, which may hold a password', () => {
  expect(() => readStageConfig({ STORE_URL: 'postgres://u:hunter2@h' })).toThrow(/^(?!.*hunter2)/);
});

test('SOFTWARE names the version of package.json', () => {
  const { name, version } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    name: string;
    version: string;
  };
  expect(SOFTWARE).toBe(`${name}/${version}`);
});

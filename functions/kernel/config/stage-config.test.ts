import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { SOFTWARE } from './software.ts';
import { readStageConfig } from './stage-config.ts';

const env = { STORE_URL: 'sqlite:/tmp/store.db' };

test('readStageConfig takes the defaults for what is not set', () => {
  expect(readStageConfig(env)).toEqual({
    port: 8080,
    host: '127.0.0.1',
    sink: undefined,
    storeUrl: 'sqlite:/tmp/store.db',
    filesUrl: 'store:',
    engineerTokenSha256: '',
    drainMs: 10_000,
  });
});

test.each([
  [{ ...env, PORT: '65536' }, 'PORT = "65536" is not valid: use 0 to 65535'],
  [{ ...env, PORT: '8o8o' }, 'PORT = "8o8o"'],
  [{}, 'STORE_URL = "(not set)"'],
  [{ STORE_URL: 'redis://x' }, 'use sqlite:PATH or mongodb://HOST/DATABASE'],
  [{ ...env, K_SINK: 'nats://x' }, 'K_SINK'],
  [{ ...env, FILES_URL: 's3:x' }, 'FILES_URL'],
  [{ ...env, ENGINEER_TOKEN_SHA256: 'abc' }, 'use 64 lower-case hex digits'],
])('readStageConfig refuses %j and names the variable', (bad, message) => {
  expect(() => readStageConfig(bad)).toThrow(message);
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

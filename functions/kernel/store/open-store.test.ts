import { expect, test } from 'vitest';
import { VirtualClock } from '../core/clock.ts';
import { openStore } from './open-store.ts';
import { redactUrl } from './redact-url.ts';

test.each([
  '',
  'sqlite:',
  'store.db',
  'file:store.db',
  'postgres://host/db',
  'mongodb:',
  'SQLITE:a',
])('openStore + %j is STORE_URL_INVALID and names what is known', async (url) => {
  await expect(openStore(url, new VirtualClock())).rejects.toMatchObject({
    code: 'STORE_URL_INVALID',
    message: expect.stringContaining('use sqlite:PATH or mongodb://HOST/DATABASE'),
  });
});

test.each([
  ['mongodb://user:pass@host/db', 'mongodb://…@host/db'],
  ['postgres://user:p@ss@host/db', 'postgres://…@host/db'],
  ['mongodb://host/db?authMechanismProperties=AWS_SESSION_TOKEN:abc', 'mongodb://host/db?…'],
  ['connect mongodb://u:p@h/db?x=1 failed', 'connect mongodb://…@h/db?… failed'],
  ['connect ECONNREFUSED 127.0.0.1:1', 'connect ECONNREFUSED 127.0.0.1:1'],
  ['Did you mean this? Yes.', 'Did you mean this? Yes.'],
])('redactUrl of %j', (text, expected) => {
  expect(redactUrl(text)).toBe(expected);
});

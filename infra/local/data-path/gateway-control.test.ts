import { request } from 'undici';
import { afterEach, expect, test } from 'vitest';
import { VirtualClock } from '#kernel/core/clock.ts';
import { sha256Hex } from '#kernel/system/sha256.ts';
import { silentLog } from '#kernel/system/log.ts';
import { Gateway } from './gateway.ts';
import { TRIGGERS_PATH } from './gateway-control.ts';

const gateways: Gateway[] = [];
afterEach(async () => {
  await Promise.all(gateways.splice(0).map((gateway) => gateway.stop()));
});

async function open({ withControl = true } = {}) {
  const done: string[] = [];
  const control = {
    tokenSha256: sha256Hex('secret'),
    addTrigger: async (trigger: object) => {
      done.push(`add ${JSON.stringify(trigger)}`);
    },
    removeTrigger: async (name: string) => {
      done.push(`remove ${name}`);
    },
  };
  const gateway = await Gateway.start({
    services: [],
    port: 0,
    clock: new VirtualClock(),
    log: silentLog,
    status: async () => ({}),
    ...(withControl ? { control } : {}),
  });
  gateways.push(gateway);
  return { url: `${gateway.url}${TRIGGERS_PATH}`, done };
}

const authorization = 'Bearer secret';

test('a Trigger is added and removed by whoever has the token', async () => {
  const { url, done } = await open();
  const added = await request(url, { method: 'POST', headers: { authorization }, body: '{"a":1}' });
  const removed = await request(`${url}/a`, { method: 'DELETE', headers: { authorization } });
  expect([added.statusCode, removed.statusCode]).toEqual([204, 204]);
  expect(done).toEqual(['add {"a":1}', 'remove a']);
});

const TOO_LARGE = JSON.stringify('x'.repeat(65_536));

test.each([
  ['no token', {}, '{}', 401, 'ENGINEER_TOKEN_MISSING'],
  ['another token', { authorization: 'Bearer other' }, '{}', 401, 'ENGINEER_TOKEN_INVALID'],
  ['a body that is no JSON', { authorization }, '{', 400, 'REQUEST_INVALID'],
  ['a body that is no object', { authorization }, '7', 400, 'REQUEST_INVALID'],
  ['a body above the limit', { authorization }, TOO_LARGE, 413, 'BODY_TOO_LARGE'],
] as const)('a Trigger with %s is refused', async (_, headers, body, status, code) => {
  const { url, done } = await open();
  const answer = await request(url, { method: 'POST', headers, body });
  expect(await answer.body.json()).toMatchObject({ error: { code } });
  expect(answer.statusCode).toBe(status);
  expect(done).toEqual([]);
});

test('another method or no name: there is no such route', async () => {
  const { url, done } = await open();
  const headers = { authorization };
  for (const method of ['GET', 'DELETE'] as const) {
    expect((await request(url, { method, headers })).statusCode).toBe(404);
  }
  expect(done).toEqual([]);
});

test('a cluster without a token has no control', async () => {
  const { url } = await open({ withControl: false });
  const answer = await request(url, { method: 'POST', headers: { authorization }, body: '{}' });
  expect(await answer.body.json()).toMatchObject({ error: { code: 'SERVICE_UNKNOWN' } });
});

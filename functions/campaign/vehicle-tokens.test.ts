import { afterEach, beforeEach, expect, test } from 'vitest';
import type { CredentialFact } from '#kernel/facts/facts.ts';
import { judgeToken } from '#kernel/facts/vehicle-token.ts';
import { prefixEnd } from '#kernel/core/ids.ts';
import { sha256Hex } from '#kernel/system/sha256.ts';
import { campaignApi, type CampaignApi } from './testing/campaign-api.ts';

let api: CampaignApi;
beforeEach(async () => {
  api = await campaignApi();
});
afterEach(() => api.app.close());

interface Issued {
  readonly token: string;
  readonly version: number;
  readonly expiresAt: string;
}

async function issue(body?: string, vehicle = 'veh-1'): Promise<Issued> {
  const answer = await api.call('POST', `/v1/vehicles/${vehicle}/tokens`, body);
  expect(answer.status).toBe(201);
  return answer.body as Issued;
}
const revoke = (version: number | string) =>
  api.call('DELETE', `/v1/vehicles/veh-1/tokens/${version}`);

const credentials = async () =>
  (
    await api.store.range('credentials', 'veh-1/', prefixEnd('veh-1/'), {
      limit: 100,
      descending: true,
    })
  ).map(({ document }) => document as unknown as CredentialFact);

const judge = async ({ token }: Issued) =>
  judgeToken(await credentials(), sha256Hex(token), api.clock.nowMs()).verdict;

test('POST tokens gives a token of 32 random bytes once and stores its hash alone', async () => {
  const issued = await issue();
  const secret = Buffer.alloc(32, 1).toString('base64url');
  expect(issued).toEqual({
    token: `veh-1.${secret}`,
    version: 1,
    expiresAt: '2027-11-30T12:00:00.000Z',
  });
  expect(await judge(issued)).toBe('valid');
  expect(JSON.stringify(await credentials())).not.toContain(secret);
  const audit = await api.store.range('audit', '', prefixEnd(''), { limit: 10 });
  expect(audit.map(({ document }) => document)).toEqual([
    { atMs: api.clock.nowMs(), by: 'engineer', what: 'token issued', vehicle: 'veh-1', version: 1 },
  ]);
  expect(JSON.stringify(audit)).not.toContain(secret);
});

test('POST tokens is never cached', async () => {
  const { answer } = await api.call('POST', '/v1/vehicles/veh-1/tokens');
  expect(answer.headers['cache-control']).toBe('no-store');
});

test('POST tokens + ttlS makes the token expire', async () => {
  const issued = await issue('{"ttlS": 60}');
  expect(issued.expiresAt).toBe('2026-11-30T12:01:00.000Z');
  expect(await judge(issued)).toBe('valid');
  await api.clock.advance(60_000);
  expect(await judge(issued)).toBe('expired');
});

test('POST tokens: two are valid at a time, a third ends the first', async () => {
  const [first, second] = [await issue(), await issue()];
  expect([await judge(first), await judge(second)]).toEqual(['valid', 'valid']);
  const third = await issue();
  expect([await judge(first), await judge(second), await judge(third)]).toEqual([
    'revoked',
    'valid',
    'valid',
  ]);
});

test('POST tokens for one vehicle at once gives each its own version', async () => {
  const issued = await Promise.all([issue(), issue(), issue()]);
  expect(new Set(issued.map(({ version }) => version))).toEqual(new Set([1, 2, 3]));
});

test('POST tokens + more at once than attempts is 503', async () => {
  const answers = await Promise.all(
    Array.from({ length: 12 }, () => api.call('POST', '/v1/vehicles/veh-1/tokens')),
  );
  const refused = answers.filter(({ status }) => status === 503);
  expect(refused.length).toBeGreaterThan(0);
  expect(refused[0]?.body).toMatchObject({ error: { code: 'VEHICLE_TOKENS_RACE' } });
});

test.each([
  ['{"ttlS": 59}', 'FIELD_INVALID'],
  ['{"ttlS": 315360001}', 'FIELD_INVALID'],
  ['{"ttlS": "forever"}', 'FIELD_INVALID'],
  ['{"ttl": 60}', 'FIELD_INVALID'],
  ['[60]', 'FIELD_INVALID'],
  ['ttlS: 60', 'BODY_MALFORMED'],
])('POST tokens + %s is 400 %s', async (body, code) => {
  expect(await api.call('POST', '/v1/vehicles/veh-1/tokens', body)).toMatchObject({
    status: 400,
    body: { error: { code } },
  });
});

test.each(['a%2Fb', '%2e%2e', 'a%00', 'x'.repeat(65), 'ä'])(
  'POST tokens + the vehicle %s is 400',
  async (vehicle) => {
    const answer = await api.call('POST', `/v1/vehicles/${encodeURI(vehicle)}/tokens`);
    expect([400, 404]).toContain(answer.status);
    expect(await credentials()).toEqual([]);
  },
);

test('DELETE a token revokes it and no other; once more changes nothing', async () => {
  const [first, second] = [await issue(), await issue()];
  expect((await revoke(first.version)).status).toBe(204);
  expect((await revoke(first.version)).status).toBe(204);
  expect([await judge(first), await judge(second)]).toEqual(['revoked', 'valid']);
  expect(await credentials()).toHaveLength(3);
});

test.each([
  ['7', 404, 'VEHICLE_TOKEN_NOT_FOUND'],
  ['2', 404, 'VEHICLE_TOKEN_NOT_FOUND'], // a revocation is no token
  ['x', 400, 'FIELD_INVALID'],
  ['0', 400, 'FIELD_INVALID'],
  ['1000000', 400, 'FIELD_INVALID'],
])('DELETE the token %s is %d %s', async (version, status, code) => {
  await issue();
  await revoke(1);
  expect(await revoke(version)).toMatchObject({ status, body: { error: { code } } });
});

test('GET tokens tells what was done, newest first, without hashes', async () => {
  await issue();
  await revoke(1);
  const { body } = await api.call('GET', '/v1/vehicles/veh-1/tokens');
  expect(body).toMatchObject({
    tokens: [
      { version: 2, action: 'revoked' },
      { version: 1, action: 'issued' },
    ],
  });
  expect(JSON.stringify(body)).not.toContain('Sha256');
});

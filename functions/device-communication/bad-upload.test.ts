import { gzipSync } from 'node:zlib';
import { encode } from 'cborg';
import { expect, test } from 'vitest';
import { encodeBatch } from '#kernel/batch/batch-codec.ts';
import type { Batch } from '#kernel/batch/batch.ts';
import { vehicleToken } from '#kernel/facts/vehicle-token.ts';
import { sha256Hex } from '#kernel/system/sha256.ts';
import type { Fixture, Headers } from './testing/stage-fixture.ts';
import {
  batchOf,
  CBOR,
  contentsOf,
  post,
  postBatch,
  putCampaign,
  putCredential,
  START_MS,
  startStage,
  TOKEN,
} from './testing/stage-fixture.ts';

interface Refusal {
  readonly status: number;
  readonly code: string;
  /** What the message must name. */
  readonly names: string | RegExp;
}

async function expectRefusal(
  { app, store, emitted }: Fixture,
  body: Uint8Array | string,
  headers: Headers,
  { status, code, names }: Refusal,
  url?: string,
): Promise<void> {
  const answer = await post(app, body, headers, url);
  const { error } = answer.json<{ error: { code: string; message: string } }>();
  expect(error.code).toBe(code);
  expect(error.message).toMatch(names);
  expect(answer.statusCode).toBe(status);
  expect(answer.body).not.toContain('.ts:');
  expect(await contentsOf(store)).toEqual({});
  expect(emitted).toEqual([]);
}

const plain = encodeBatch(batchOf(), 'cbor');
const GZIP: Headers = { ...CBOR, 'content-encoding': 'gzip' };
const JSON_BODY: Headers = { ...CBOR, 'content-type': 'application/json' };
const document = JSON.parse(Buffer.from(encodeBatch(batchOf(), 'json')).toString()) as Record<
  string,
  unknown
>;
const jsonWith = (changes: Record<string, unknown>): string =>
  JSON.stringify({ ...document, ...changes });

const BAD_BODIES: readonly (readonly [string, Uint8Array | string, Headers, Refusal])[] = [
  ['an empty body', '', CBOR, { status: 400, code: 'BODY_EMPTY', names: 'a batch' }],
  [
    'a gzip of nothing',
    gzipSync(''),
    GZIP,
    { status: 400, code: 'BODY_EMPTY', names: 'application/cbor' },
  ],
  [
    'another content type',
    plain,
    { ...CBOR, 'content-type': 'text/csv' },
    { status: 415, code: 'BODY_TYPE_UNKNOWN', names: /text\/csv.*application\/cbor/ },
  ],
  [
    'no content type',
    plain,
    { authorization: CBOR['authorization'] ?? '' },
    { status: 415, code: 'BODY_TYPE_UNKNOWN', names: 'application/json' },
  ],
  [
    'an unknown content encoding',
    plain,
    { ...CBOR, 'content-encoding': 'br' },
    { status: 415, code: 'BODY_ENCODING_UNKNOWN', names: /"br".*gzip, zstd/ },
  ],
  [
    'a truncated gzip',
    gzipSync(plain).subarray(0, -9),
    GZIP,
    { status: 400, code: 'BODY_COMPRESSION_INVALID', names: 'gzip' },
  ],
  [
    'a gzip bomb of 64 MiB',
    gzipSync(Buffer.alloc(64 * 1_048_576)),
    GZIP,
    { status: 413, code: 'BODY_INFLATED_TOO_LARGE', names: '16777216' },
  ],
  [
    'a body of 1 MiB and a byte',
    Buffer.alloc(1_048_577),
    CBOR,
    { status: 413, code: 'BODY_TOO_LARGE', names: '1048576' },
  ],
  [
    'malformed CBOR',
    plain.subarray(0, -1),
    CBOR,
    { status: 400, code: 'BODY_MALFORMED', names: 'cbor' },
  ],
  [
    'a duplicate key in CBOR',
    Buffer.from('a2617301617302', 'hex'),
    CBOR,
    { status: 400, code: 'BODY_MALFORMED', names: 'repeat map key "s"' },
  ],
  [
    'an indefinite length in CBOR',
    Buffer.from('bf617301ff', 'hex'),
    CBOR,
    { status: 400, code: 'BODY_MALFORMED', names: 'indefinite' },
  ],
  [
    'an unknown schema version',
    jsonWith({ schema: 'tachograph.batch/2' }),
    JSON_BODY,
    { status: 400, code: 'BATCH_SCHEMA_UNKNOWN', names: /batch\/2.*tachograph\.batch\/1/ },
  ],
  [
    'a negative sequence number',
    jsonWith({ seq: -1 }),
    JSON_BODY,
    { status: 400, code: 'FIELD_INVALID', names: /seq = -1 .*0 to 99999/ },
  ],
  [
    'an absurd sequence number',
    jsonWith({ seq: 1e15 }),
    JSON_BODY,
    { status: 400, code: 'FIELD_INVALID', names: /seq = 1000000000000000 .*0 to 99999/ },
  ],
  [
    'a session named ../',
    jsonWith({ session: '../s1' }),
    JSON_BODY,
    { status: 400, code: 'FIELD_INVALID', names: /session = "\.\.\/s1"/ },
  ],
  [
    'a session with NUL in its name',
    encode({ ...document, session: 's\u0000' }),
    CBOR,
    { status: 400, code: 'FIELD_INVALID', names: 'session' },
  ],
  [
    'a vehicle of 300 characters',
    jsonWith({ vehicle: 'v'.repeat(300) }),
    JSON_BODY,
    { status: 400, code: 'FIELD_INVALID', names: /vehicle = a text of 300 characters/ },
  ],
  [
    'the vehicle of somebody else',
    jsonWith({ vehicle: 'veh-2' }),
    JSON_BODY,
    { status: 403, code: 'BATCH_VEHICLE_MISMATCH', names: /veh-2.*veh-1/ },
  ],
];

test.each(BAD_BODIES)('upload with %s is refused', async (_, body, headers, refusal) => {
  await expectRefusal(await startStage(), body, headers, refusal);
});

const BAD_CAMPAIGNS: readonly (readonly [string, Partial<Batch>, Refusal])[] = [
  [
    'an unknown campaign',
    { campaign: 'wheels' },
    { status: 422, code: 'UPLOAD_CAMPAIGN_UNKNOWN', names: 'wheels' },
  ],
  [
    'an unknown version',
    { campaignVersion: 9 },
    { status: 422, code: 'UPLOAD_CAMPAIGN_UNKNOWN', names: /brakes with version 9/ },
  ],
  [
    '1,001 windows',
    { untilUs: 1_001_000_000 },
    { status: 422, code: 'UPLOAD_WINDOWS_TOO_MANY', names: /1001 windows of 1000 ms.*1000/ },
  ],
  [
    'a window number beyond the largest',
    {
      fromUs: 100_000_000_000_000,
      untilUs: 100_000_001_000_000,
      groups: [],
      counts: { seen: 0, matched: 0, recorded: 0, dropped: {} },
    },
    { status: 422, code: 'UPLOAD_WINDOWS_TOO_MANY', names: '99999999' },
  ],
];

test.each(BAD_CAMPAIGNS)('upload for %s is refused', async (_, changes, refusal) => {
  await expectRefusal(await startStage(), encodeBatch(batchOf(changes), 'cbor'), CBOR, refusal);
});

test('upload of exactly 1,000 windows is accepted', async () => {
  const { app } = await startStage();
  expect((await postBatch(app, batchOf({ untilUs: 1_000_000_000 }))).statusCode).toBe(201);
});

test.each(['draft', 'ended'] as const)(
  'upload for a campaign that is %s is refused',
  async (state) => {
    const stage = await startStage();
    await putCampaign(stage.store, 3, state);
    const refusal = { status: 422, code: 'UPLOAD_CAMPAIGN_CLOSED', names: state };
    await expectRefusal(stage, plain, CBOR, refusal);
  },
);

test('upload right after its campaign began is accepted, though it was a draft', async () => {
  const { app, store } = await startStage();
  await putCampaign(store, 1, 'draft', {}, 'doors');
  const changes = { campaign: 'doors', campaignVersion: 1 };
  expect((await postBatch(app, batchOf(changes))).statusCode).toBe(422);
  await putCampaign(store, 2, 'running', {}, 'doors');
  expect((await postBatch(app, batchOf({ ...changes, campaignVersion: 2 }))).statusCode).toBe(201);
});

test('upload within a second after the end may still be accepted, then no more', async () => {
  const { app, store, clock } = await startStage();
  await postBatch(app, batchOf());
  await putCampaign(store, 3, 'ended');
  await clock.advance(999);
  expect((await postBatch(app, batchOf({ seq: 1 }))).statusCode).toBe(201);
  await clock.advance(1);
  expect((await postBatch(app, batchOf({ seq: 2 }))).statusCode).toBe(422);
});

test('upload of a vehicle that the campaign does not target is refused', async () => {
  const stage = await startStage();
  await putCampaign(stage.store, 3, 'running', { target: { vehicles: ['veh-2'] } });
  const body = encodeBatch(batchOf({ campaignVersion: 3 }), 'cbor');
  await expectRefusal(stage, body, CBOR, {
    status: 403,
    code: 'UPLOAD_NOT_TARGETED',
    names: 'veh-1',
  });
});

test('upload for another version than the session began with is refused', async () => {
  const { app, store } = await startStage();
  await putCampaign(store, 3, 'running');
  await postBatch(app, batchOf());
  const answer = await postBatch(app, batchOf({ seq: 1, campaignVersion: 3 }));
  expect(answer.statusCode).toBe(422);
  expect(answer.json()).toMatchObject({
    error: { code: 'SESSION_CAMPAIGN_CHANGED', campaign: 'brakes', version: 2 },
  });
  expect(await contentsOf(store)).toEqual({ batches: 1, bindings: 1, receipts: 1 });
});

const OTHER = vehicleToken('veh-2', new Uint8Array(32).fill(8));

const BAD_TOKENS: readonly (readonly [string, string | undefined, Refusal])[] = [
  ['no token', undefined, { status: 401, code: 'TOKEN_MISSING', names: 'Bearer' }],
  ['basic credentials', 'Basic dTpw', { status: 401, code: 'TOKEN_MISSING', names: 'Bearer' }],
  [
    'an unknown token of the vehicle',
    `Bearer ${vehicleToken('veh-1', new Uint8Array(32))}`,
    { status: 401, code: 'TOKEN_UNKNOWN', names: 'token' },
  ],
  [
    'an unknown token of a vehicle nobody knows',
    `Bearer ${vehicleToken('veh-3', new Uint8Array(32))}`,
    { status: 401, code: 'TOKEN_UNKNOWN', names: 'token' },
  ],
  [
    'a token without a vehicle',
    'Bearer abcdef',
    { status: 401, code: 'TOKEN_UNKNOWN', names: 'token' },
  ],
  [
    'the valid token of another vehicle',
    `Bearer ${OTHER}`,
    { status: 403, code: 'VEHICLE_FORBIDDEN', names: 'veh-1' },
  ],
];

test.each(BAD_TOKENS)('upload with %s is refused', async (_, authorization, refusal) => {
  const stage = await startStage();
  await putCredential(stage.store, 1, { vehicle: 'veh-2', tokenSha256: sha256Hex(OTHER) });
  const headers = {
    'content-type': 'application/cbor',
    ...(authorization === undefined ? {} : { authorization }),
  };
  await expectRefusal(stage, plain, headers, refusal);
  expect(stage.logged.at(-1)?.fields['code']).toBe(refusal.code);
});

test('a 401 answer names the scheme', async () => {
  const { app } = await startStage();
  const answer = await post(app, plain, { 'content-type': 'application/cbor' });
  expect(answer.headers['www-authenticate']).toBe('Bearer');
});

test('upload with a revoked token is refused at once', async () => {
  const stage = await startStage();
  await putCredential(stage.store, 2, { action: 'revoked', tokenSha256: sha256Hex(TOKEN) });
  const refusal = { status: 401, code: 'TOKEN_REVOKED', names: 'revoked' };
  await expectRefusal(stage, plain, CBOR, refusal);
});

test('upload with a token behind 50 newer facts is not found any more', async () => {
  const { app, store } = await startStage();
  for (let version = 2; version <= 50; version++) {
    await putCredential(store, version, { action: 'revoked', tokenSha256: 'a'.repeat(64) });
  }
  expect((await post(app, plain)).statusCode).toBe(201);
  await putCredential(store, 51, { action: 'revoked', tokenSha256: 'a'.repeat(64) });
  const answer = await post(app, plain);
  expect(answer.json()).toMatchObject({ error: { code: 'TOKEN_UNKNOWN' } });
});

test('upload with an expired token is refused with the time of its end', async () => {
  const stage = await startStage();
  await putCredential(stage.store, 2, {
    tokenSha256: sha256Hex(TOKEN),
    expiresAtMs: START_MS,
  });
  const at = new Date(START_MS).toISOString();
  await expectRefusal(stage, plain, CBOR, { status: 401, code: 'TOKEN_EXPIRED', names: at });
});

test('upload with a token not valid yet is refused with the time of its begin', async () => {
  const stage = await startStage();
  await putCredential(stage.store, 2, { notBeforeMs: START_MS + 1 });
  const at = new Date(START_MS + 1).toISOString();
  await expectRefusal(stage, plain, CBOR, { status: 401, code: 'TOKEN_NOT_YET_VALID', names: at });
});

test.each([
  ['../', '%2e%2e%2f'],
  ['NUL', 'veh%00'],
  ['a slash', 'veh%2f1'],
  ['65 characters', 'v'.repeat(65)],
  ['256 characters', 'v'.repeat(256)],
])('upload to a vehicle named by %s is refused', async (_, path) => {
  const refusal = { status: 400, code: 'ID_PART_INVALID', names: '1 to 64' };
  const stage = await startStage();
  await expectRefusal(stage, plain, CBOR, refusal, `/v1/vehicles/${path}/batches`);
});

test.each([
  ['..', '..'],
  ['300 characters', 'v'.repeat(300)],
])('upload to a vehicle named by %s finds no route', async (_, path) => {
  const { app, store } = await startStage();
  const answer = await post(app, plain, CBOR, `/v1/vehicles/${path}/batches`);
  expect([400, 404]).toContain(answer.statusCode);
  expect(await contentsOf(store)).toEqual({});
});

test('an event at the event entry is parked, since the stage consumes none', async () => {
  const { app, store } = await startStage();
  const answer = await app.inject({
    method: 'POST',
    url: '/',
    headers: {
      'ce-specversion': '1.0',
      'ce-id': '1',
      'ce-source': '/x',
      'ce-type': 'x.y',
      'ce-subject': 'veh-1',
    },
  });
  expect(answer.statusCode).toBe(204);
  expect(await contentsOf(store)).toEqual({ parked: 1 });
});

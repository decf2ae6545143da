import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { prefixEnd } from '#kernel/core/ids.ts';
import { factHash } from '#kernel/store/fact-codec.ts';
import { createCampaignStage } from './function.ts';
import { campaignApi, type CampaignApi, DBC_SHA256 } from './testing/campaign-api.ts';
import { DBC_TEXT } from './testing/dbc-text.ts';

let api: CampaignApi;
beforeEach(async () => {
  api = await campaignApi();
});
afterEach(() => api.app.close());

const CAMPAIGN = `id: c1
decoders: { can0: { sha256: ${DBC_SHA256} } }
signals:
  - { name: Motion.Speed, record: { everyMs: 100 } }
`;

const addDecoder = () => api.call('POST', '/v1/decoders?name=test.dbc', DBC_TEXT);
async function create(text = CAMPAIGN) {
  await addDecoder();
  return api.call('POST', '/v1/campaigns', text);
}
const act = (action: string, id = 'c1') => api.call('POST', `/v1/campaigns/${id}/${action}`);
const facts = async (collection: 'campaigns' | 'audit') =>
  (await api.store.range(collection, '', prefixEnd(''), { limit: 100 })).map(
    ({ document }) => document,
  );

test('createCampaignStage without the hash of the engineers token refuses to start', () => {
  const config = { engineerTokenSha256: '', randomBytes: () => new Uint8Array() };
  expect(() => createCampaignStage(config)).toThrow('ENGINEER_TOKEN_SHA256');
});

test('every route without the token answers 401 and does nothing', async () => {
  const spec = (await api.app.inject('/openapi.json')).json<{
    paths: Record<string, Record<string, unknown>>;
  }>();
  const routes = Object.entries(spec.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => [method.toUpperCase(), path.replace(/\{\w+\}/g, '1')]),
  );
  expect(routes.length).toBeGreaterThanOrEqual(14);
  for (const [method, url] of routes as ['GET', string][]) {
    const answer = await api.app.inject({ method, url });
    expect([method, url, answer.statusCode]).toEqual([method, url, 401]);
    expect(answer.json()).toMatchObject({ error: { code: 'ENGINEER_TOKEN_MISSING' } });
  }
  expect(await facts('audit')).toEqual([]);
});

test('POST /v1/decoders stores a DBC under its hash; the same again is 200', async () => {
  const first = await api.call('POST', '/v1/decoders?name=..%2Fcar%2Ftest.dbc', DBC_TEXT);
  expect(first).toMatchObject({
    status: 201,
    body: { sha256: DBC_SHA256, name: 'test.dbc', messages: 2, signals: 3, faultCount: 0 },
  });
  expect(await addDecoder()).toMatchObject({ status: 200, body: { sha256: DBC_SHA256 } });
  const read = await api.call('GET', '/v1/campaigns');
  expect(read.status).toBe(200);
  const answer = await api.app.inject({
    url: `/v1/decoders/${DBC_SHA256}`,
    headers: { authorization: 'Bearer the-engineers-token' },
  });
  expect([answer.statusCode, answer.headers['content-type'], answer.body]).toEqual([
    200,
    'application/octet-stream',
    DBC_TEXT,
  ]);
});

test('POST /v1/decoders + a syntax error keeps the good messages and tells the line', async () => {
  const broken = DBC_TEXT.replace('BO_ 200 Lamps', 'BO_ 200 Lamps!!');
  const { status, body } = await api.call('POST', '/v1/decoders', broken);
  expect(status).toBe(201);
  expect(body).toMatchObject({ name: 'decoder.dbc', messages: 1 });
  expect((body as { faults: { line: number }[] }).faults[0]?.line).toBe(6);
});

test.each([
  ['', 400, 'BODY_EMPTY'],
  ['Not a DBC at all', 422, 'DECODER_UNUSABLE'],
  ['VERSION ""\n', 422, 'DECODER_UNUSABLE'],
])('POST /v1/decoders + %j is refused', async (text, status, code) => {
  expect(await api.call('POST', '/v1/decoders', text)).toMatchObject({
    status,
    body: { error: { code } },
  });
});

test('POST /v1/decoders + more than 8 MiB is 413', async () => {
  const { status } = await api.call('POST', '/v1/decoders', Buffer.alloc(8 * 1024 * 1024 + 1));
  expect(status).toBe(413);
});

test('GET /v1/decoders/:sha256 + an unknown hash is 404', async () => {
  for (const sha256 of ['0'.repeat(64), 'xyz']) {
    expect(await api.call('GET', `/v1/decoders/${sha256}`)).toMatchObject({ status: 404 });
  }
});

test('POST /v1/campaigns creates a draft with its defaults, estimate, event and audit', async () => {
  const { status, body } = await create();
  expect(status).toBe(201);
  expect(body).toMatchObject({
    campaign: 'c1',
    version: 1,
    state: 'draft',
    by: 'engineer',
    createdAtMs: api.clock.nowMs(),
    definition: {
      signals: [{ name: 'Motion.Speed', bus: 'can0', record: { everyMs: 100 } }],
      processing: { windowMs: 10_000, resample: { rasterMs: 100, maxHoldMs: 500 } },
    },
    estimate: { signals: 3, storedBytesPerHour: expect.any(Number) },
  });
  const { estimate: _, ...fact } = body as Record<string, unknown>;
  expect(await facts('campaigns')).toEqual([fact]);
  expect(fact['definitionSha256']).toBe(factHash(fact['definition'] as never));
  const data = { campaign: 'c1', version: 1, state: 'draft' };
  expect(api.emitted).toEqual([
    { name: 'campaign.changed.v1', factId: 'c1/000001', subject: 'c1', data },
  ]);
  expect(await facts('audit')).toEqual([
    { atMs: api.clock.nowMs(), by: 'engineer', what: 'campaign', ...data },
  ]);
});

test('POST /v1/campaigns + an equal draft is 200 and no new version, in JSON as in YAML', async () => {
  await create();
  const json = JSON.stringify({
    signals: [{ record: { everyMs: 100 }, name: 'Motion.Speed', bus: 'can0' }],
    decoders: { can0: { sha256: DBC_SHA256 } },
    id: 'c1',
  });
  expect(await create(json)).toMatchObject({ status: 200, body: { version: 1 } });
  expect(await facts('campaigns')).toHaveLength(1);
});

test('POST /v1/campaigns + another definition of a draft is its next version', async () => {
  await create();
  expect(await create(`${CAMPAIGN}kind: fleet\n`)).toMatchObject({
    status: 201,
    body: { version: 2, state: 'draft' },
  });
});

test('POST /v1/campaigns + a campaign that was approved is 409', async () => {
  await create();
  await act('approve');
  expect(await create(`${CAMPAIGN}kind: fleet\n`)).toMatchObject({
    status: 409,
    body: { error: { code: 'CAMPAIGN_NOT_DRAFT', state: 'approved' } },
  });
});

test('POST /v1/campaigns + faults is 422 with every place, and nothing is kept', async () => {
  const text = `${CAMPAIGN}  - { name: Motion.Sped }\nupload:\n  everyMs: 1000\nprocessing:\n  windowMs: 1500\n`;
  const { status, body } = await create(text);
  expect(status).toBe(422);
  expect(body).toMatchObject({
    error: { code: 'CAMPAIGN_INVALID', count: 2 },
    faults: [
      { path: 'processing.windowMs', line: 9, column: 3 },
      { path: 'signals[1].name', line: 5, column: 7 },
    ],
  });
  expect((body as { error: { message: string } }).error.message).toContain(
    'The campaign has 2 faults; the first: line 9, column 3: processing.windowMs = 1500',
  );
  expect(await facts('campaigns')).toEqual([]);
  expect(api.emitted).toEqual([]);
});

test('POST /v1/campaigns + an empty body is 400', async () => {
  expect(await api.call('POST', '/v1/campaigns', '')).toMatchObject({
    status: 400,
    body: { error: { code: 'BODY_EMPTY' } },
  });
});

test('POST /v1/campaigns/validate judges and keeps nothing', async () => {
  await addDecoder();
  expect(await api.call('POST', '/v1/campaigns/validate', CAMPAIGN)).toMatchObject({
    status: 200,
    body: { valid: true, faults: [], faultCount: 0, estimate: { framesPerS: 824 } },
  });
  expect(await api.call('POST', '/v1/campaigns/validate', 'id: c\nkind: truck')).toMatchObject({
    status: 200,
    body: { valid: false, faultCount: 1, faults: [{ line: 2 }], estimate: null },
  });
  expect(await facts('campaigns')).toEqual([]);
});

/** A DBC of `messages` x 50 one-byte signals sent every 2 ms. */
function largeDbc(messages: number): string {
  const lines = ['VERSION ""', 'BU_: E', 'BA_DEF_ BO_ "GenMsgCycleTime" INT 0 10000;'];
  for (let id = 1; id <= messages; id++) {
    lines.push(`BO_ ${id} M${id}: 64 E`);
    for (let n = 0; n < 50; n++) lines.push(` SG_ S${n} : ${n * 8}|8@1+ (1,0) [0|255] "" E`);
  }
  for (let id = 1; id <= messages; id++) lines.push(`BA_ "GenMsgCycleTime" BO_ ${id} 2;`);
  return `${lines.join('\n')}\n`;
}

test('POST /v1/campaigns + 2,500 signals is accepted', async () => {
  const { body } = await api.call('POST', '/v1/decoders', largeDbc(50));
  const { sha256, signals: count } = body as { sha256: string; signals: number };
  expect(count).toBe(2_500);
  const signals = Array.from({ length: 2_500 }, (_, n) => ({
    name: `M${Math.floor(n / 50) + 1}.S${n % 50}`,
    record: { everyMs: 100 },
  }));
  const campaign = { id: 'big', rawFrames: 'none', decoders: { can0: { sha256 } }, signals };
  expect(await api.call('POST', '/v1/campaigns', JSON.stringify(campaign))).toMatchObject({
    status: 201,
    body: { estimate: { signals: 2_500, framesPerS: 500, samplesPerS: 25_000 } },
  });
});

test('POST /v1/campaigns + a volume over the quota is refused with the numbers', async () => {
  const { body } = await api.call('POST', '/v1/decoders', largeDbc(50));
  const { sha256 } = body as { sha256: string };
  const campaign = { id: 'big', decoders: { can0: { sha256 } } };
  const refused = await api.call('POST', '/v1/campaigns', JSON.stringify(campaign));
  expect(refused.status).toBe(422);
  // 2,500 signals x 500/s x 0.7 bytes alone are 3 GB an hour.
  expect((refused.body as { faults: { message: string }[] }).faults[0]?.message).toMatch(
    /would store \d{4} MiB a vehicle and hour \(2500 signals, 1250000 values\/s\); at most 2048/,
  );
});

test('actions lead through the states, each a new version with its event and audit', async () => {
  await create();
  const steps = ['approve', 'start', 'pause', 'start', 'end'];
  const states: unknown[] = [];
  for (const action of steps) states.push((await act(action)).body);
  expect(states).toMatchObject([
    { state: 'approved', version: 2 },
    { state: 'running', version: 3 },
    { state: 'paused', version: 4 },
    { state: 'running', version: 5 },
    { state: 'ended', version: 6 },
  ]);
  expect(api.emitted.map(({ factId }) => factId)).toEqual(
    [1, 2, 3, 4, 5, 6].map((version) => `c1/00000${version}`),
  );
  expect(await facts('audit')).toHaveLength(6);
  const hashes = (await facts('campaigns')).map((fact) => fact['definitionSha256']);
  expect(new Set(hashes).size).toBe(1);
});

test('an action out of turn is 409 and names the state and what is allowed', async () => {
  await create();
  expect(await act('pause')).toMatchObject({
    status: 409,
    body: { error: { code: 'CAMPAIGN_TRANSITION', state: 'draft', allowed: 'approve' } },
  });
  expect(await facts('campaigns')).toHaveLength(1);
});

test('an action repeated changes nothing and says the event again', async () => {
  await create();
  await act('approve');
  expect(await act('approve')).toMatchObject({ status: 200, body: { version: 2 } });
  expect(await facts('campaigns')).toHaveLength(2);
  expect(await facts('audit')).toHaveLength(2);
  expect(api.emitted.map(({ factId }) => factId).slice(1)).toEqual(['c1/000002', 'c1/000002']);
});

test('an action whose event is not taken is 503; repeated, it completes without a new version', async () => {
  await create();
  api.sink.fails = true;
  const failed = await act('approve');
  expect(failed).toMatchObject({ status: 503, body: { error: { code: 'EMIT_FAILED' } } });
  api.sink.fails = false;
  expect(await act('approve')).toMatchObject({ status: 200, body: { version: 2 } });
  expect(api.emitted.at(-1)).toMatchObject({ factId: 'c1/000002' });
});

test('two different actions at once: one wins, the other is 409', async () => {
  await create();
  await act('approve');
  const answers = await Promise.all([act('start'), act('end')]);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]));
  const lost = answers.find(({ status }) => status === 409);
  expect(lost?.body).toMatchObject({ error: { code: 'CAMPAIGN_RACE', version: 3 } });
  expect(await facts('campaigns')).toHaveLength(3);
});

test.each([
  ['GET', '/v1/campaigns/none', 404, 'CAMPAIGN_UNKNOWN'],
  ['POST', '/v1/campaigns/none/start', 404, 'CAMPAIGN_UNKNOWN'],
  ['GET', '/v1/campaigns/none/vehicles', 404, 'CAMPAIGN_UNKNOWN'],
  ['GET', '/v1/campaigns/none/versions/1', 404, 'CAMPAIGN_UNKNOWN'],
  ['GET', '/v1/campaigns/none/versions/x', 400, 'FIELD_INVALID'],
  ['GET', '/v1/campaigns/none/versions/0', 400, 'FIELD_INVALID'],
  ['GET', '/v1/campaigns/a%2Fb', 400, 'ID_PART_INVALID'],
  ['GET', '/v1/campaigns?limit=501', 400, 'FIELD_INVALID'],
  ['GET', '/v1/campaigns?limit=0', 400, 'FIELD_INVALID'],
  ['GET', '/v1/campaigns?after=a%00', 400, 'ID_PART_INVALID'],
] as const)('%s %s is %d %s', async (method, url, status, code) => {
  expect(await api.call(method, url)).toMatchObject({ status, body: { error: { code } } });
});

test('GET /v1/campaigns pages through the newest versions in the order of names', async () => {
  await addDecoder();
  for (const id of ['b', 'a', 'a-b', 'c']) {
    await api.call('POST', '/v1/campaigns', `id: ${id}\nrawFrames: all`);
  }
  await act('approve', 'a');
  const names = async (query: string) => {
    const { body } = await api.call('GET', `/v1/campaigns${query}`);
    const { campaigns, next } = body as {
      campaigns: { campaign: string; state: string; version: number }[];
      next: string | null;
    };
    return [campaigns.map((each) => `${each.campaign} ${each.state} ${each.version}`), next];
  };
  // "a-b/" sorts before "a/".
  const all = ['a-b draft 1', 'a approved 2', 'b draft 1', 'c draft 1'];
  expect(await names('')).toEqual([all, null]);
  expect(await names('?limit=2')).toEqual([all.slice(0, 2), 'a']);
  expect(await names('?limit=2&after=a')).toEqual([all.slice(2), 'c']);
  expect(await names('?limit=2&after=c')).toEqual([[], null]);
});

test('GET /v1/campaigns/:id/versions/:version gives an older version', async () => {
  await create();
  await act('approve');
  const versions = [
    await api.call('GET', '/v1/campaigns/c1'),
    await api.call('GET', '/v1/campaigns/c1/versions/1'),
  ];
  expect(versions.map(({ body }) => body)).toMatchObject([
    { version: 2, state: 'approved' },
    { version: 1, state: 'draft' },
  ]);
});

test('the example campaigns name signals that their DBC has', async () => {
  const dbc = readFileSync('examples/drive/toyota_2017.dbc');
  const { body } = await api.call('POST', '/v1/decoders', dbc);
  const { sha256 } = body as { sha256: string };
  for (const name of ['demo', 'dynamics']) {
    const text = readFileSync(`examples/campaigns/${name}.yaml`, 'utf8');
    const given = text.replace('dbc: ../drive/toyota_2017.dbc', `sha256: ${sha256}`);
    expect(await api.call('POST', '/v1/campaigns', given)).toMatchObject({ status: 201 });
  }
});

import { gzipSync } from 'node:zlib';
import { encode } from 'cborg';
import { expect, test } from 'vitest';
import type { CheckinFact } from '#kernel/facts/checkin.ts';
import { vehicleCampaignState } from '#kernel/facts/vehicle-campaign-state.ts';
import type { Store } from '#kernel/store/store.ts';
import type { CheckinAnswer } from './check-in.ts';
import type { Fixture } from './testing/stage-fixture.ts';
import {
  CBOR,
  contentsOf,
  definition,
  post,
  putCampaign,
  START_MS,
  startStage,
  TOKEN,
} from './testing/stage-fixture.ts';

const URL = '/v1/vehicles/veh-1/checkins';
const JSON_BODY = { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` };
const HASH = 'ab'.repeat(32);

const checkIn = ({ app }: Fixture, report: object = { campaigns: [] }) =>
  post(app, JSON.stringify(report), JSON_BODY, URL);

const facts = async (store: Store): Promise<CheckinFact[]> =>
  (await store.range('checkins', '', '~', { limit: 1_000 })).map(
    ({ document }) => document as unknown as CheckinFact,
  );

test('check-in answers the campaigns due, the time and where to send batches', async () => {
  const stage = await startStage();
  const answer = await checkIn(stage);
  expect(answer.statusCode).toBe(200);
  const { campaigns, ...rest } = answer.json<CheckinAnswer>();
  expect(rest).toEqual({
    vehicle: 'veh-1',
    serverTimeMs: START_MS,
    uploadUrl: '/v1/vehicles/veh-1/batches',
  });
  expect(campaigns).toEqual([
    {
      campaign: 'brakes',
      version: 2,
      definitionSha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      definition: definition(),
    },
  ]);
});

test('check-in is kept: what was said, what was told', async () => {
  const stage = await startStage();
  const said = {
    software: 'agent/1.2',
    campaigns: [
      { campaign: 'brakes', version: 2, definitionSha256: HASH, state: 'failed', reason: 'no bus' },
    ],
    clock: { monotonicUs: 1, wallUs: 2, source: 'rtc' },
  };
  const answer = await checkIn(stage, said);
  const [told] = answer.json<CheckinAnswer>().campaigns;
  const { campaign, version, definitionSha256 } = told ?? {};
  expect(await facts(stage.store)).toEqual([
    { vehicle: 'veh-1', atMs: START_MS, said, told: [{ campaign, version, definitionSha256 }] },
  ]);
});

test('check-in of CBOR with gzip is read as well', async () => {
  const { app, store } = await startStage();
  const body = gzipSync(encode({ campaigns: [] }));
  const answer = await post(app, body, { ...CBOR, 'content-encoding': 'gzip' }, URL);
  expect(answer.statusCode).toBe(200);
  expect(await contentsOf(store)).toEqual({ checkins: 1 });
});

const HOUR = 3_600_000;
const at = (ms: number): string => new Date(START_MS + ms).toISOString();

test.each([
  ['is a draft', 'draft', {}, false],
  ['is approved', 'approved', {}, false],
  ['is paused', 'paused', {}, false],
  ['has ended', 'ended', {}, false],
  ['is for all vehicles', 'running', { target: { vehicles: 'all' } }, true],
  ['is for others', 'running', { target: { vehicles: ['veh-2'] } }, false],
  ['begins later', 'running', { window: { startAt: at(1), endAt: null } }, false],
  ['begins now', 'running', { window: { startAt: at(0), endAt: null } }, true],
  ['ends now', 'running', { window: { startAt: null, endAt: at(0) } }, false],
  ['ends later', 'running', { window: { startAt: at(-HOUR), endAt: at(HOUR) } }, true],
] as const)('check-in when the campaign %s', async (_, state, changes, due) => {
  const stage = await startStage();
  await putCampaign(stage.store, 3, state, changes);
  const { campaigns } = (await checkIn(stage)).json<CheckinAnswer>();
  expect(campaigns.map(({ version }) => version)).toEqual(due ? [3] : []);
});

test('check-in finds the newest version of every campaign, also of prefixes', async () => {
  const stage = await startStage();
  for (const campaign of ['brakes-2', 'brakes.3', 'a', 'brakesz', '~']) {
    await putCampaign(stage.store, 1, 'running', {}, campaign);
    await putCampaign(stage.store, 2, campaign === 'a' ? 'ended' : 'running', {}, campaign);
  }
  const { campaigns } = (await checkIn(stage)).json<CheckinAnswer>();
  expect(campaigns.map(({ campaign, version }) => `${campaign}/${version}`).sort()).toEqual([
    'brakes-2/2',
    'brakes.3/2',
    'brakes/2',
    'brakesz/2',
    '~/2',
  ]);
});

test('check-in learns of a new campaign within two seconds', async () => {
  const stage = await startStage();
  await checkIn(stage);
  await putCampaign(stage.store, 1, 'running', {}, 'doors');
  await stage.clock.advance(2_000);
  expect((await checkIn(stage)).json<CheckinAnswer>().campaigns).toHaveLength(2);
});

test('check-ins in the same millisecond are all kept, up to ten', async () => {
  const stage = await startStage();
  for (let count = 1; count <= 10; count++) {
    expect((await checkIn(stage, { software: `v${count}`, campaigns: [] })).statusCode).toBe(200);
  }
  expect((await facts(stage.store)).map(({ atMs }) => atMs - START_MS)).toEqual([
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
  ]);
  const eleventh = await checkIn(stage, { software: 'v11', campaigns: [] });
  expect(eleventh.statusCode).toBe(503);
  expect(eleventh.headers['retry-after']).toBe('1');
});

const entry = { campaign: 'brakes', version: 2, definitionSha256: HASH, state: 'enacted' };

test.each([
  ['no body', '', 'BODY_EMPTY'],
  ['no list of campaigns', '{}', 'FIELD_INVALID'],
  ['an unknown field', '{"campaigns":[],"mood":1}', 'FIELD_INVALID'],
  ['duplicate keys', '{"campaigns":[],"campaigns":[]}', 'BODY_MALFORMED'],
  ['an unknown state', { ...entry, state: 'happy' }, 'FIELD_INVALID'],
  ['a hash that is none', { ...entry, definitionSha256: 'x' }, 'FIELD_INVALID'],
  ['a campaign named ../', { ...entry, campaign: '../' }, 'FIELD_INVALID'],
  ['version 0', { ...entry, version: 0 }, 'FIELD_INVALID'],
  ['state failed without a reason', { ...entry, state: 'failed' }, 'FIELD_INVALID'],
  ['state failed with an empty reason', { ...entry, state: 'failed', reason: '' }, 'FIELD_INVALID'],
  ['a reason with a line break', { ...entry, reason: 'a\nb' }, 'FIELD_INVALID'],
  ['a reason of 501 characters', { ...entry, reason: 'a'.repeat(501) }, 'FIELD_INVALID'],
])('check-in with %s is refused and not kept', async (_, body, code) => {
  const { app, store } = await startStage();
  const text = typeof body === 'string' ? body : JSON.stringify({ campaigns: [body] });
  const answer = await post(app, text, JSON_BODY, URL);
  expect(answer.statusCode).toBe(400);
  expect(answer.json()).toMatchObject({ error: { code } });
  expect(await contentsOf(store)).toEqual({});
});

test('check-in with 1,001 campaigns is refused', async () => {
  const stage = await startStage();
  const campaigns = Array.from({ length: 1_001 }, () => entry);
  expect((await checkIn(stage, { campaigns: campaigns.slice(1) })).statusCode).toBe(200);
  expect((await checkIn(stage, { campaigns })).statusCode).toBe(400);
});

test('check-in without a token is refused', async () => {
  const { app, store } = await startStage();
  const headers = { 'content-type': 'application/json' };
  expect((await post(app, '{"campaigns":[]}', headers, URL)).statusCode).toBe(401);
  expect(await contentsOf(store)).toEqual({});
});

test('check-ins through a campaign tell its state at every step', async () => {
  const stage = await startStage();
  const states: string[] = [];
  const [due] = (await checkIn(stage)).json<CheckinAnswer>().campaigns;
  if (due === undefined) throw new Error('no campaign is due');
  const { campaign, version, definitionSha256 } = due;
  for (const state of ['enacted', 'recording', 'done']) {
    states.push(vehicleCampaignState(due, await facts(stage.store)).state);
    await stage.clock.advance(1_000);
    await checkIn(stage, { campaigns: [{ campaign, version, definitionSha256, state }] });
  }
  states.push(vehicleCampaignState(due, await facts(stage.store)).state);
  expect(states).toEqual(['delivered', 'enacted', 'recording', 'done']);
});

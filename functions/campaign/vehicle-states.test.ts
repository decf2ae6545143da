import { afterEach, beforeEach, expect, test } from 'vitest';
import { batchId, campaignId } from '#kernel/core/ids.ts';
import type { CampaignFact } from '#kernel/facts/campaign.ts';
import { checkinId, type CampaignReport } from '#kernel/facts/checkin.ts';
import { parseCampaign } from './parse-campaign.ts';
import { campaignApi, type CampaignApi } from './testing/campaign-api.ts';
import type { VehicleState } from './vehicle-states.ts';

let api: CampaignApi;
beforeEach(async () => {
  api = await campaignApi();
});
afterEach(() => api.app.close());

const SHA = 'd'.repeat(64);

async function store(target: string): Promise<void> {
  const text = `id: c1\nrawFrames: all\ntarget: { vehicles: ${target} }`;
  const { definition } = parseCampaign(new TextEncoder().encode(text));
  const fact: CampaignFact = {
    campaign: 'c1',
    version: 3,
    state: 'running',
    definition,
    definitionSha256: SHA,
    createdAtMs: 1,
    by: 'engineer',
  };
  await api.store.insert('campaigns', campaignId('c1', 3), fact);
}

let atMs = 1_000;
async function checkin(vehicle: string, state?: CampaignReport['state'], reason?: string) {
  const about = { campaign: 'c1', version: 3, definitionSha256: SHA };
  const report = { ...about, state, reason };
  const said = { campaigns: state === undefined ? [] : [report] };
  const fact = { vehicle, atMs, said, told: [about] };
  await api.store.insert('checkins', checkinId(vehicle, atMs++), fact);
}

const receipt = (vehicle: string, session: string, seq: number, campaign: string, at: number) =>
  api.store.insert('receipts', batchId(vehicle, session, seq), { campaign, receivedAtMs: at });

async function states(query = ''): Promise<[string[], string | null]> {
  const { body } = await api.call('GET', `/v1/campaigns/c1/vehicles${query}`);
  const { vehicles, next } = body as {
    vehicles: VehicleState[];
    next: string | null;
  };
  return [
    vehicles.map(
      ({ vehicle, state, reason, sessions, lastBatchAtMs }) =>
        `${vehicle} ${state} ${reason} ${sessions} ${lastBatchAtMs}`,
    ),
    next,
  ];
}

test('GET vehicles + a listed vehicle that never checked in is pending', async () => {
  await store('[v1]');
  await checkin('other', 'recording');
  expect(await states()).toEqual([['v1 pending null 0 null'], null]);
});

test('GET vehicles + target all lists those that checked in, each in its state', async () => {
  await store('all');
  await checkin('told');
  await checkin('enacted', 'enacted');
  await checkin('failed', 'failed', 'no space');
  await checkin('done', 'enacted');
  await checkin('done', 'done');
  expect(await states()).toEqual([
    [
      'done done null 0 null',
      'enacted enacted null 0 null',
      'failed failed no space 0 null',
      'told delivered null 0 null',
    ],
    null,
  ]);
});

test('GET vehicles + batches of the campaign show that a vehicle records', async () => {
  await store('all');
  await checkin('v1', 'enacted');
  await receipt('v1', 's1', 0, 'c1', 5_000);
  await receipt('v1', 's1', 1, 'c1', 6_000);
  await receipt('v1', 's2', 0, 'c1', 4_000);
  await receipt('v1', 's3', 0, 'another', 9_000);
  expect(await states()).toEqual([['v1 recording null 2 6000'], null]);
});

test('GET vehicles + batches do not undo that a vehicle is done', async () => {
  await store('all');
  await checkin('v1', 'done');
  await receipt('v1', 's1', 0, 'c1', 5_000);
  expect(await states()).toEqual([['v1 done null 1 5000'], null]);
});

test.each(['all', '[v1, v2, v-3, v4]'])(
  'GET vehicles + target %s pages in order',
  async (target) => {
    await store(target);
    for (const vehicle of ['v1', 'v2', 'v-3', 'v4']) await checkin(vehicle);
    const [first, next] = await states('?limit=3');
    expect(first.map((line) => line.split(' ')[0])).toEqual(['v-3', 'v1', 'v2']);
    expect(next).toBe('v2');
    expect(await states('?limit=3&after=v2')).toEqual([['v4 delivered null 0 null'], null]);
  },
);

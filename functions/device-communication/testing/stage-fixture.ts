import type { LightMyRequestResponse } from 'fastify';
import type { CloudEvent } from '#eventing/contracts/cloud-event.ts';
import { encodeBatch } from '#kernel/batch/batch-codec.ts';
import type { Batch } from '#kernel/batch/batch.ts';
import { VirtualClock } from '#kernel/core/clock.ts';
import { campaignId, credentialId } from '#kernel/core/ids.ts';
import type { CampaignDefinition, CampaignFact, CampaignState } from '#kernel/facts/campaign.ts';
import type { CredentialFact } from '#kernel/facts/facts.ts';
import { vehicleToken } from '#kernel/facts/vehicle-token.ts';
import { serveStage, type ServedStage } from '#kernel/runtime/testing/serve-stage.ts';
import type { Emission } from '#kernel/runtime/stage.ts';
import { memoryStore } from '#kernel/store/memory-store.ts';
import type { Fact, Store } from '#kernel/store/store.ts';
import { COLLECTIONS } from '#kernel/store/store.ts';
import type { Log } from '#kernel/system/log.ts';
import { sha256Hex } from '#kernel/system/sha256.ts';
import type { RequestSpan } from '#kernel/telemetry/stage-telemetry.ts';
import type { BudgetLimits } from '../byte-budget.ts';
import { createDeviceCommunicationStage } from '../function.ts';
import { exampleDefinition } from '#kernel/facts/testing/example-campaign.ts';

export const START_MS = 1_780_000_000_000;
export const TOKEN = vehicleToken('veh-1', new Uint8Array(32).fill(7));

interface Emitted {
  readonly emission: Emission;
  readonly cause: CloudEvent | undefined;
}

export interface Fixture {
  readonly app: ServedStage;
  readonly clock: VirtualClock;
  readonly store: Store;
  readonly emitted: Emitted[];
  readonly logged: {
    readonly message: string;
    readonly fields: Readonly<Record<string, unknown>>;
  }[];
  /** Set to make the next emissions fail. */
  readonly sink: { failure: Error | undefined };
  /** Of the uploads; undefined: nothing is traced. */
  readonly tracing: { span: RequestSpan | undefined };
}

export const definition = (changes: Partial<CampaignDefinition> = {}): CampaignDefinition =>
  exampleDefinition({ name: 'brakes', target: { vehicles: ['veh-1'] }, ...changes });

export async function putCampaign(
  store: Store,
  version: number,
  state: CampaignState,
  changes: Partial<CampaignDefinition> = {},
  campaign = 'brakes',
): Promise<CampaignFact> {
  const fact: CampaignFact = {
    campaign,
    version,
    state,
    definition: definition(changes),
    definitionSha256: sha256Hex(JSON.stringify(changes)),
    createdAtMs: START_MS,
    by: 'test',
  };
  await store.insert('campaigns', campaignId(campaign, version), asFact(fact));
  return fact;
}

export async function putCredential(
  store: Store,
  version: number,
  changes: Partial<CredentialFact> = {},
): Promise<void> {
  const fact: CredentialFact = {
    vehicle: 'veh-1',
    version,
    action: 'issued',
    tokenSha256: sha256Hex(TOKEN),
    notBeforeMs: START_MS - 1_000,
    expiresAtMs: START_MS + 86_400_000,
    createdAtMs: START_MS,
    ...changes,
  };
  await store.insert('credentials', credentialId(fact.vehicle, version), asFact(fact));
}

const asFact = (fact: object): Fact => ({ ...fact });

/** The stage with a running campaign `brakes` (version 2) for `veh-1`, whose token is TOKEN. */
export async function startStage(
  wrapStore = (store: Store): Store => store,
  uploads?: BudgetLimits,
): Promise<Fixture> {
  const store = memoryStore();
  await putCampaign(store, 1, 'draft');
  await putCampaign(store, 2, 'running');
  await putCredential(store, 1);
  const clock = new VirtualClock(START_MS);
  const emitted: Emitted[] = [];
  const logged: { message: string; fields: Readonly<Record<string, unknown>> }[] = [];
  const keep = (message: string, fields: Readonly<Record<string, unknown>> = {}): void => {
    logged.push({ message, fields });
  };
  const log: Log = { info: keep, warn: keep, error: keep };
  const sink: Fixture['sink'] = { failure: undefined };
  const tracing: Fixture['tracing'] = { span: undefined };
  const app = await serveStage(createDeviceCommunicationStage(uploads), {
    clock,
    store: wrapStore(store),
    log,
    software: 'tachograph/test',
    span: () => tracing.span,
    emit: (emission, cause) => {
      if (sink.failure !== undefined) return Promise.reject(sink.failure);
      emitted.push({ emission, cause });
      return Promise.resolve();
    },
  });
  return { app, clock, store, emitted, logged, sink, tracing };
}

export const batchOf = (changes: Partial<Batch> = {}): Batch => ({
  vehicle: 'veh-1',
  session: 's1',
  seq: 0,
  campaign: 'brakes',
  campaignVersion: 2,
  fromUs: 0,
  untilUs: 1_000_000,
  clock: { monotonicUs: 0, wallUs: START_MS * 1_000, source: 'gnss' },
  end: false,
  counts: { seen: 5, matched: 3, recorded: 2, dropped: { bufferFull: 1 } },
  groups: [
    {
      bus: 'can0',
      id: 0x25,
      extended: false,
      kind: 'data',
      timeUs: Float64Array.of(10, 12_010),
      lengths: Uint8Array.of(2, 2),
      payload: Uint8Array.of(1, 2, 3, 4),
    },
  ],
  ...changes,
});

export type Headers = Readonly<Record<string, string>>;

export const CBOR: Headers = {
  'content-type': 'application/cbor',
  authorization: `Bearer ${TOKEN}`,
};

export const post = (
  app: ServedStage,
  body: Uint8Array | string,
  headers: Headers = CBOR,
  url = '/v1/vehicles/veh-1/batches',
): Promise<LightMyRequestResponse> =>
  app.inject({
    method: 'POST',
    url,
    headers,
    payload: typeof body === 'string' ? body : Buffer.from(body),
  });

export const postBatch = (
  app: ServedStage,
  batch: Batch,
  headers: Headers = CBOR,
): Promise<LightMyRequestResponse> => post(app, encodeBatch(batch, 'cbor'), headers);

/** How many documents each collection holds that an upload can write to. */
export async function contentsOf(store: Store): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const collection of COLLECTIONS) {
    if (collection === 'campaigns' || collection === 'credentials') continue;
    const found = await store.range(collection, '', '~', { limit: 10_000 });
    if (found.length > 0) counts[collection] = found.length;
  }
  return counts;
}

import type { HttpHeaders } from '#eventing/contracts/codec.ts';
import { bodyFormat, decodeBatch } from '#kernel/batch/batch-codec.ts';
import type { Batch } from '#kernel/batch/batch.ts';
import { inflateBody } from '#kernel/batch/inflate.ts';
import { TachographError } from '#kernel/core/errors.ts';
import { batchId, prefixEnd, sessionPrefix } from '#kernel/core/ids.ts';
import type { BatchFact, ReceiptFact } from '#kernel/facts/facts.ts';
import type { StageContext } from '#kernel/runtime/stage.ts';
import { sha256Hex } from '#kernel/system/sha256.ts';
import type { CampaignBook } from './campaign-book.ts';
import type { CampaignStanding } from './campaign-rules.ts';
import { refusalOf } from './campaign-rules.ts';
import type { ExpiringCache } from './expiring-cache.ts';
import type { StoredBatch } from './store-batch.ts';
import { isStored, storeBatch } from './store-batch.ts';
import { uploadEvent } from './upload-event.ts';

export interface Upload {
  /** From the path; already the authenticated one. */
  readonly vehicle: string;
  readonly headers: HttpHeaders;
  readonly body: Uint8Array;
}

/** The campaign, version and kind of a session's first batch. */
export type SessionCampaign =
  | Pick<ReceiptFact, 'campaign' | 'campaignVersion' | 'emulated'>
  | undefined;

export interface Reception {
  readonly context: StageContext;
  readonly campaigns: CampaignBook;
  readonly sessions: ExpiringCache<SessionCampaign>;
}

/**
 * Takes an upload in: bounds, parses and checks it, stores batch and receipt, announces them. When
 * it resolves the vehicle may delete its copy. A repeat does receipt and announcement again.
 */
export async function receiveBatch(upload: Upload, reception: Reception): Promise<StoredBatch> {
  const { context } = reception;
  const event = uploadEvent(upload.headers, upload.body, upload.vehicle);
  const { fact, batch } = await readUpload(upload, context.clock.nowMs());
  await checkAccepted(fact, batch, reception);
  const stored = await storeBatch(fact, batch, context.store);
  const { vehicle, session, seq } = fact;
  await context.emit(
    {
      name: 'batch.stored.v1',
      factId: batchId(vehicle, session, seq),
      subject: vehicle,
      data: { vehicle, session, seq },
    },
    event,
  );
  return stored;
}

async function readUpload(
  { vehicle, headers, body }: Upload,
  receivedAtMs: number,
): Promise<{ readonly fact: BatchFact; readonly batch: Batch }> {
  if (body.length === 0) throw new TachographError('BODY_EMPTY', { expected: 'a batch' });
  const contentType = String(headers['content-type'] ?? '');
  bodyFormat(contentType);
  const contentEncoding = String(headers['content-encoding'] ?? '')
    .trim()
    .toLowerCase();
  const inflated = await inflateBody(body, contentEncoding);
  const batch = decodeBatch(inflated, contentType);
  if (batch.vehicle !== vehicle) {
    throw new TachographError('BATCH_VEHICLE_MISMATCH', { value: batch.vehicle, vehicle });
  }
  const { session, seq } = batch;
  const sha256 = sha256Hex(inflated);
  const encoding = contentEncoding === 'identity' ? '' : contentEncoding;
  return {
    batch,
    fact: {
      vehicle,
      session,
      seq,
      contentType,
      contentEncoding: encoding,
      body,
      sha256,
      receivedAtMs,
    },
  };
}

/**
 * A refusal is final for the vehicle, so it is never founded on what a cache remembers. A batch
 * whose acknowledgement was lost comes again, perhaps after its campaign has ended: what is already
 * stored stays accepted.
 */
async function checkAccepted(fact: BatchFact, batch: Batch, reception: Reception): Promise<void> {
  if (refusalOf(batch, await standingOf(batch, reception)) === undefined) return;
  reception.campaigns.forget(batch.campaign);
  const refusal = refusalOf(batch, await standingOf(batch, reception));
  if (refusal !== undefined && !(await isStored(fact, reception.context.store))) throw refusal;
}

async function standingOf(batch: Batch, reception: Reception): Promise<CampaignStanding> {
  const { campaigns } = reception;
  const [version, newest, session] = await Promise.all([
    campaigns.version(batch.campaign, batch.campaignVersion),
    campaigns.newest(batch.campaign),
    sessionCampaign(batch, reception),
  ]);
  return { version, newest, session };
}

/**
 * Any batch of the session tells it. Only what is known is remembered: a first batch may be coming.
 */
async function sessionCampaign(
  { vehicle, session }: Batch,
  { sessions, context }: Reception,
): Promise<SessionCampaign> {
  const prefix = sessionPrefix(vehicle, session);
  const known = await sessions.get(prefix, async () => {
    const [found] = await context.store.range('receipts', prefix, prefixEnd(prefix), { limit: 1 });
    if (found === undefined) return undefined;
    const { campaign, campaignVersion, emulated } = found.document as unknown as ReceiptFact;
    return { campaign, campaignVersion, ...(emulated === true ? { emulated } : {}) };
  });
  if (known === undefined) sessions.forget(prefix);
  return known;
}

import type { HttpHeaders } from '#eventing/contracts/codec.ts';
import { bodyFormat, decodeBatch } from '#kernel/batch/batch-codec.ts';
import type { Batch } from '#kernel/batch/batch.ts';
import { MAX_INFLATED_BYTES } from '#kernel/batch/batch-limits.ts';
import { inflateBody, MAX_DEFLATE_RATIO } from '#kernel/batch/inflate.ts';
import { TachographError } from '#kernel/core/errors.ts';
import { batchId } from '#kernel/core/ids.ts';
import type { OneAtATime } from '#kernel/core/one-at-a-time.ts';
import type { BatchFact } from '#kernel/facts/facts.ts';
import type { StageContext } from '#kernel/runtime/stage.ts';
import { sha256Hex } from '#kernel/system/sha256.ts';
import { ATTRIBUTE } from '#kernel/telemetry/names.ts';
import type { ByteBudget } from './byte-budget.ts';
import type { CampaignBook } from './campaign-book.ts';
import type { CampaignStanding } from './campaign-rules.ts';
import { refusalOf, sessionChanged } from './campaign-rules.ts';
import type { SessionBook } from './session-book.ts';
import type { StoredBatch } from './store-batch.ts';
import { isStored, storeBatch } from './store-batch.ts';
import { uploadEvent } from './upload-event.ts';

export interface Upload {
  /** From the path; already the authenticated one. */
  readonly vehicle: string;
  readonly headers: HttpHeaders;
  readonly body: Uint8Array;
}

export interface Reception {
  readonly context: StageContext;
  readonly campaigns: CampaignBook;
  readonly sessions: SessionBook;
  /** Memory for what bodies become: a MiB sent can be 16 MiB inflated. */
  readonly budget: ByteBudget;
  /** Conflicts under one key are set aside one after another, so that they can be counted. */
  readonly conflicts: OneAtATime;
}

/**
 * Takes an upload in: bounds, parses and checks it, stores batch and receipt, announces them. When
 * it resolves the vehicle may delete its copy. A repeat does receipt and announcement again.
 */
export async function receiveBatch(upload: Upload, reception: Reception): Promise<StoredBatch> {
  const event = uploadEvent(upload.headers, upload.body, upload.vehicle);
  const stored = await storeUpload(upload, reception);
  const { vehicle, session, seq } = stored.receipt;
  const span = reception.context.span?.();
  span?.set(ATTRIBUTE.vehicle, vehicle);
  span?.set(ATTRIBUTE.session, session);
  span?.set(ATTRIBUTE.seq, seq);
  await reception.context.emit(
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

/** What a request takes beside its body, roughly. */
const REQUEST_BYTES = 8_192;
/** A frame of CBOR is a byte at least (its time) and becomes nine: the time, the length. */
const MAX_BATCH_RATIO = 10;

/** The most that a body and its batch can take: gzip has a largest ratio, zstd has none. */
function mostBytes({ headers, body }: Upload): number {
  const ratios: Readonly<Record<string, number>> = {
    '': 1,
    identity: 1,
    gzip: MAX_DEFLATE_RATIO,
    'x-gzip': MAX_DEFLATE_RATIO,
  };
  const inflatedBytes = body.length * (ratios[contentEncodingOf(headers)] ?? Infinity);
  return Math.min(MAX_INFLATED_BYTES, MAX_BATCH_RATIO * inflatedBytes);
}

const contentEncodingOf = (headers: HttpHeaders): string =>
  String(headers['content-encoding'] ?? '')
    .trim()
    .toLowerCase();

/** Borrows the most a body can become; once it is read, holds only what the batch takes. */
async function storeUpload(upload: Upload, reception: Reception): Promise<StoredBatch> {
  const { context, budget, conflicts } = reception;
  const loan = await budget.borrow(mostBytes(upload), upload.body.length + REQUEST_BYTES);
  try {
    const span = context.span?.();
    const leaveDecode = span?.enter('decode');
    const { fact, batch } = await readUpload(upload, context.clock.nowMs()).finally(leaveDecode);
    loan.shrinkTo(batchBytes(batch));
    await checkAccepted(fact, batch, reception);
    return await storeBatch(fact, batch, context.store, conflicts, span?.place.traceparent);
  } finally {
    loan.release();
  }
}

const batchBytes = ({ groups }: Batch): number =>
  groups.reduce(
    (sum, { timeUs, lengths, payload }) =>
      sum + timeUs.byteLength + lengths.byteLength + payload.byteLength,
    0,
  );

async function readUpload(
  { vehicle, headers, body }: Upload,
  receivedAtMs: number,
): Promise<{ readonly fact: BatchFact; readonly batch: Batch }> {
  if (body.length === 0) throw new TachographError('BODY_EMPTY', { expected: 'a batch' });
  const contentType = String(headers['content-type'] ?? '');
  bodyFormat(contentType);
  const contentEncoding = contentEncodingOf(headers);
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
  const refusal = await findRefusal(batch, reception);
  if (refusal !== undefined && !(await isStored(fact, reception.context.store))) throw refusal;
}

async function findRefusal(
  batch: Batch,
  reception: Reception,
): Promise<TachographError | undefined> {
  if (refusalOf(batch, await standingOf(batch, reception)) !== undefined) {
    reception.campaigns.forget(batch.campaign);
    const refusal = refusalOf(batch, await standingOf(batch, reception));
    if (refusal !== undefined) return refusal;
  }
  // Last, so that a refused batch binds nothing.
  return sessionChanged(batch, await reception.sessions.bind(batch));
}

async function standingOf(batch: Batch, reception: Reception): Promise<CampaignStanding> {
  const { campaigns, sessions } = reception;
  const [version, newest, session] = await Promise.all([
    campaigns.version(batch.campaign, batch.campaignVersion),
    campaigns.newest(batch.campaign),
    sessions.campaignOf(batch),
  ]);
  return { version, newest, session };
}

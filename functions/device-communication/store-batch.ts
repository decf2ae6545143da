import type { Batch } from '#kernel/batch/batch.ts';
import { TachographError } from '#kernel/core/errors.ts';
import { batchId, prefixEnd, quarantineId } from '#kernel/core/ids.ts';
import type { OneAtATime } from '#kernel/core/one-at-a-time.ts';
import type { BatchFact, QuarantineFact, ReceiptFact } from '#kernel/facts/facts.ts';
import type { Collection, Store } from '#kernel/store/store.ts';
import { receiptOf } from './receipt.ts';

/**
 * A vehicle that goes on sending other content under one key fills no disk with it. The count and
 * the insert after it are one step in a process only: each further replica may add one more.
 */
const MAX_QUARANTINED_PER_BATCH = 3;

export interface StoredBatch {
  /** The same content had been stored under this key before. */
  readonly duplicate: boolean;
  /** The first one, however often the batch comes. */
  readonly receipt: ReceiptFact;
}

/**
 * Writes a batch and its receipt, each once. Repeating it after a failure at any point completes
 * what is missing. Other content under a used key is set aside in `quarantine` and refused with
 * BATCH_CONFLICT; nothing else changes.
 */
export async function storeBatch(
  fact: BatchFact,
  batch: Batch,
  store: Store,
  conflicts: OneAtATime,
  trace?: string,
): Promise<StoredBatch> {
  const id = batchId(fact.vehicle, fact.session, fact.seq);
  const card = (received: BatchFact): ReceiptFact => ({
    ...receiptOf(received, batch),
    ...(trace === undefined ? {} : { trace }),
  });
  const inserted = await store.insert('batches', id, { ...fact }, fact.sha256);
  if (inserted.outcome === 'created') {
    return { duplicate: false, receipt: await storeReceipt(id, card(fact), store) };
  }
  if (!inserted.same) await conflicts.run(id, () => refuseConflict(id, fact, store));
  return { duplicate: true, receipt: await receiptOfDuplicate(id, card, store) };
}

/** Whether this very content is stored under its key: nothing that changed since can undo that. */
export async function isStored(fact: BatchFact, store: Store): Promise<boolean> {
  const id = batchId(fact.vehicle, fact.session, fact.seq);
  const stored = await store.get('batches', id);
  return stored !== undefined && stored['sha256'] === fact.sha256;
}

async function receiptOfDuplicate(
  id: string,
  card: (received: BatchFact) => ReceiptFact,
  store: Store,
): Promise<ReceiptFact> {
  const receipt = await store.get('receipts', id);
  if (receipt !== undefined) return receipt as unknown as ReceiptFact;
  // The first upload got as far as the batch, or is at this moment between the two.
  const first = await existing<BatchFact>('batches', id, store);
  return storeReceipt(id, card(first), store);
}

/** Equal hashes of equal batches: whoever comes second reads what the first wrote. */
async function storeReceipt(id: string, receipt: ReceiptFact, store: Store): Promise<ReceiptFact> {
  const inserted = await store.insert('receipts', id, { ...receipt }, receipt.sha256);
  if (inserted.outcome === 'created') return receipt;
  return existing<ReceiptFact>('receipts', id, store);
}

async function refuseConflict(id: string, fact: BatchFact, store: Store): Promise<never> {
  const { sha256: firstSha256 } = await existing<BatchFact>('batches', id, store);
  const prefix = `${id}/`;
  const limit = MAX_QUARANTINED_PER_BATCH;
  const found = await store.range('quarantine', prefix, prefixEnd(prefix), { limit });
  if (found.length < limit) {
    const key = quarantineId(fact.vehicle, fact.session, fact.seq, fact.sha256);
    const second: QuarantineFact = { ...fact, firstSha256 };
    await store.insert('quarantine', key, { ...second }, fact.sha256);
  }
  throw new TachographError('BATCH_CONFLICT', { batch: id, firstSha256 });
}

/**
 * A fact that an insert has just found; it can be gone only when data is being removed right now.
 */
async function existing<T>(collection: Collection, id: string, store: Store): Promise<T> {
  const document = await store.get(collection, id);
  if (document !== undefined) return document as unknown as T;
  throw new TachographError('STORE_BUSY', { detail: `${collection}/${id} is being removed` });
}

import { readBatchFact } from '#kernel/batch/read-batch-fact.ts';
import { prefixEnd, sessionPrefix } from '#kernel/core/ids.ts';
import type {
  BatchFact,
  ExportFact,
  ParkedFact,
  QuarantineFact,
  ReceiptFact,
  ResultFact,
  SessionFact,
  WindowFact,
} from '#kernel/facts/facts.ts';
import type { Collection, Store } from '#kernel/store/store.ts';
import type { LedgerFact, ParkedCard, ReceiptCard, ResultCard } from './ledger-fact.ts';

export interface LedgerScope {
  readonly sessions: readonly { readonly vehicle: string; readonly session: string }[];
  /** Window length of the sessions' campaign, µs. */
  readonly windowUs: number;
}

/** Results and batches carry bodies: pages stay in the tens of megabytes. */
const PAGE = 100;

/** Streams the facts of some sessions from the store as cards. Rejects as the store does. */
export async function* readLedgerFacts(
  store: Store,
  { sessions, windowUs }: LedgerScope,
): AsyncGenerator<LedgerFact> {
  for (const { vehicle, session } of sessions) {
    const prefix = sessionPrefix(vehicle, session);
    yield* batchesAndReceipts(store, prefix, windowUs);
    for await (const fact of read<WindowFact>(store, 'windows', prefix)) {
      const { window, revision, ownSeqs, reason } = fact;
      yield { kind: 'window', vehicle, session, window, revision, ownSeqs, reason };
    }
    for await (const fact of read<ResultFact>(store, 'results', prefix)) yield resultCard(fact);
    for await (const fact of read<ExportFact>(store, 'exports', prefix)) {
      const { window, revision, withSession, files } = fact;
      yield { kind: 'export', vehicle, session, window, revision, withSession, files };
    }
    for await (const fact of read<SessionFact>(store, 'sessions', prefix)) {
      const { revision, reason, batches, frames, gaps } = fact;
      yield { kind: 'session', vehicle, session, revision, reason, batches, frames, gaps };
    }
    for await (const { seq, sha256 } of read<QuarantineFact>(store, 'quarantine', prefix)) {
      yield { kind: 'quarantine', vehicle, session, seq, sha256 };
    }
  }
  for (const vehicle of new Set(sessions.map((session) => session.vehicle))) {
    for await (const fact of read<ParkedFact>(store, 'parked', `${vehicle}/`)) {
      yield parkedCard(fact);
    }
  }
}

async function* batchesAndReceipts(
  store: Store,
  prefix: string,
  windowUs: number,
): AsyncGenerator<LedgerFact> {
  const receipts = new Map<number, ReceiptFact>();
  for await (const receipt of read<ReceiptFact>(store, 'receipts', prefix)) {
    receipts.set(receipt.seq, receipt);
  }
  for await (const batch of read<BatchFact>(store, 'batches', prefix)) {
    const { vehicle, session, seq } = batch;
    yield { kind: 'batch', vehicle, session, seq };
    const receipt = receipts.get(seq);
    if (receipt === undefined) continue;
    receipts.delete(seq);
    yield receiptCard(receipt, await framesByWindow(receipt, batch, windowUs));
  }
  // What is left has no stored body: a fault of its own, told apart by the missing batch.
  for (const receipt of receipts.values()) yield receiptCard(receipt, []);
}

/** Without a look into the body where all frames lie in one window, which is the usual case. */
async function framesByWindow(
  { firstUs, lastUs, frames }: ReceiptFact,
  batch: BatchFact,
  windowUs: number,
): Promise<ReceiptCard['framesByWindow']> {
  if (firstUs === null || lastUs === null) return [];
  const first = Math.floor(firstUs / windowUs);
  if (first === Math.floor(lastUs / windowUs)) return [[first, frames]];
  const counts = new Map<number, number>();
  for (const group of (await readBatchFact(batch)).groups) {
    for (const timeUs of group.timeUs) {
      const window = Math.floor(timeUs / windowUs);
      counts.set(window, (counts.get(window) ?? 0) + 1);
    }
  }
  return [...counts].sort(([a], [b]) => a - b);
}

function receiptCard(receipt: ReceiptFact, byWindow: ReceiptCard['framesByWindow']): ReceiptCard {
  const { vehicle, session, seq, frames, seen, matched, recordedByVehicle } = receipt;
  const { dropped, end, emulated, flags, receivedAtMs } = receipt;
  return {
    kind: 'receipt',
    vehicle,
    session,
    seq,
    frames,
    framesByWindow: byWindow,
    seen,
    matched,
    recordedByVehicle,
    dropped,
    end,
    ...(emulated === true ? { emulated } : {}),
    flags,
    receivedAtMs,
  };
}

function resultCard(fact: ResultFact): ResultCard {
  const { vehicle, session, window, revision, duplicateFrames, unsortedFrames } = fact;
  const { recorded, decoded, unknownId, noData, truncated, unknownSelector, longer } = fact.frames;
  return {
    kind: 'result',
    vehicle,
    session,
    window,
    revision,
    ...(fact.emulated === true ? { emulated: true } : {}),
    recorded,
    decoded,
    unknownId,
    noData,
    truncated,
    unknownSelector,
    longer,
    duplicateFrames,
    unsortedFrames,
  };
}

/** What a parked event names, as far as its data can be read: it may be parked because it cannot. */
function parkedCard({ vehicle, stage, reason, detail, event }: ParkedFact): ParkedCard {
  const { type, data } = JSON.parse(event) as { type: string; data?: unknown };
  const named = (typeof data === 'object' && data !== null ? data : {}) as Record<string, unknown>;
  const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
  const number = (value: unknown): number | null => (typeof value === 'number' ? value : null);
  return {
    kind: 'parked',
    vehicle,
    stage,
    reason,
    detail,
    type,
    session: text(named['session']),
    window: number(named['window']),
    revision: number(named['revision']),
  };
}

async function* read<T>(store: Store, collection: Collection, prefix: string): AsyncGenerator<T> {
  const end = prefixEnd(prefix);
  let from = prefix;
  for (;;) {
    const page = await store.range(collection, from, end, { limit: PAGE });
    for (const { document } of page) yield document as unknown as T;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    // The smallest string after the last id and before its extensions: ids hold no space.
    from = `${last.id} `;
  }
}

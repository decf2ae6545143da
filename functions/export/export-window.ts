import type { WindowProcessed } from '#eventing/contracts/catalog.ts';
import { decodeTables } from '#kernel/columns/decode-tables.ts';
import { exportId, prefixEnd, resultId, sessionPrefix, windowId } from '#kernel/core/ids.ts';
import type {
  ExportedFile,
  ExportFact,
  ReceiptFact,
  ResultFact,
  SessionFact,
  WindowFact,
} from '#kernel/facts/facts.ts';
import { DONE, type Outcome } from '#kernel/runtime/stage.ts';
import { readNewest } from '#kernel/store/read-prefix.ts';
import type { Store } from '#kernel/store/store.ts';
import { sha256Hex } from '#kernel/system/sha256.ts';
import { covers } from './compaction-plan.ts';
import { type DatasetSource, isMissing, readSource } from './dataset-source.ts';
import { announceExport, type ExportContext } from './export-context.ts';
import { seqRanges } from './seq-ranges.ts';
import { sessionStartUs } from './wall-time.ts';
import { writeTable } from './table-files.ts';

/** Whether the session's newest closing holds the window and its files have been published. */
async function isCompacted(store: Store, window: WindowProcessed): Promise<boolean> {
  const { vehicle, session } = window;
  const prefix = sessionPrefix(vehicle, session);
  const newest = await readNewest<SessionFact>(store, 'sessions', prefix);
  if (newest === undefined || !covers(newest.document, window)) return false;
  const id = exportId(vehicle, session, null, newest.document.revision);
  return (await store.get('exports', id)) !== undefined;
}

/** Clock pair of the first batch there is so far; an earlier one that comes late moves only later parts. */
async function firstClock(
  store: Store,
  { vehicle, session }: WindowProcessed,
): Promise<ReceiptFact['clock'] | undefined> {
  const prefix = sessionPrefix(vehicle, session);
  const [first] = await store.range('receipts', prefix, prefixEnd(prefix), { limit: 1 });
  return (first?.document as ReceiptFact | undefined)?.clock;
}

async function writePart(
  result: ResultFact,
  source: DatasetSource,
  startUs: number,
  { files, signal }: ExportContext,
): Promise<ExportedFile[]> {
  const { vehicle, session, window, revision } = result;
  const writer = await files.begin({ vehicle, session, window, revision });
  try {
    const written: ExportedFile[] = [];
    for (const set of ['recorded', 'raster'] as const) {
      for (const table of decodeTables(result[set])) {
        signal.throwIfAborted();
        if (table.timeUs.length === 0) continue;
        written.push(...(await writeTable(table, set, source, startUs, 'quick', writer)));
      }
    }
    await writer.publish(async () => true);
    return written;
  } catch (error) {
    await writer.discard();
    throw error;
  }
}

/**
 * Writes one window's part and announces it. A window whose session is compacted already has its data
 * in the session's files: it is announced without files of its own, and no folder of parts comes back.
 */
export async function exportWindow(
  processed: WindowProcessed,
  result: ResultFact,
  context: ExportContext,
): Promise<Outcome> {
  const { store, software, log } = context.stage;
  const { vehicle, session, window, revision, versions } = processed;
  const id = resultId(vehicle, session, window, revision, versions);
  const closed = (await store.get('windows', windowId(vehicle, session, window, revision))) as
    | WindowFact
    | undefined;
  if (closed === undefined) {
    const detail = `window ${windowId(vehicle, session, window, revision)} was never closed`;
    return { kind: 'parked', reason: 'windowMissing', detail };
  }
  let files: readonly ExportedFile[] = [];
  let withSession = await isCompacted(store, processed);
  if (!withSession) {
    const source = await readSource(store, context.decoders, result, software);
    if (isMissing(source)) return { kind: 'parked', ...source };
    const clock = await firstClock(store, processed);
    if (clock === undefined) {
      const detail = `session ${sessionPrefix(vehicle, session)} has no receipt`;
      return { kind: 'parked', reason: 'receiptMissing', detail };
    }
    files = await writePart(result, source, sessionStartUs(clock), context);
    // Compaction writes its fact first and then removes the parts. Whoever of the two comes second
    // sees the other's work, so no part outlives the compaction.
    withSession = await isCompacted(store, processed);
    if (withSession) {
      files = [];
      await context.files.removeParts(
        vehicle,
        session,
        (other, itsRevision) => other === window && itsRevision === revision,
      );
    }
  }
  const fact: ExportFact = { vehicle, session, window, revision, files, withSession };
  // The same result is the same export, whatever files it needed at the time.
  const factId = exportId(vehicle, session, window, revision);
  const inserted = await store.insert('exports', factId, { ...fact }, sha256Hex(id));
  if (inserted.outcome === 'exists' && !inserted.same) {
    log.warn('window exported again from another result', { exportId: factId, resultId: id });
  }
  await announceExport(fact, seqRanges(closed.ownSeqs), context);
  return DONE;
}

import { must } from '#kernel/core/assert.ts';
import { batchId, exportId, sessionPrefix } from '#kernel/core/ids.ts';
import { concatRecorded, mergeRaster } from '#kernel/columns/merge-tables.ts';
import type { StoredTable } from '#kernel/columns/stored-table.ts';
import type {
  ExportedFile,
  ExportFact,
  ReceiptFact,
  ResultFact,
  SessionFact,
  WindowFact,
} from '#kernel/facts/facts.ts';
import { DONE, type Outcome } from '#kernel/runtime/stage.ts';
import { readNewest, readPrefix } from '#kernel/store/read-prefix.ts';
import type { Store } from '#kernel/store/store.ts';
import { sha256Hex } from '#kernel/system/sha256.ts';
import { compactionPlan, covers } from './compaction-plan.ts';
import { type DatasetSource, isMissing, readSource } from './dataset-source.ts';
import { announceExport, type ExportContext } from './export-context.ts';
import type { ExportFiles, UnitWriter } from './export-files.ts';
import { SIDECAR } from './export-unit.ts';
import { exportWithoutFiles } from './export-without-files.ts';
import { loadResults } from './load-results.ts';
import { readSidecar } from './read-sidecar.ts';
import { closedRanges } from './seq-ranges.ts';
import { sessionSidecar, signalKey } from './session-sidecar.ts';
import { sessionTables } from './session-tables.ts';
import { writeTable } from './table-files.ts';
import { sessionStartUs } from './wall-time.ts';

/** How often late data may overtake one handling before its own event has to go on. */
const MAX_ROUNDS = 8;

const newestSession = async (
  store: Store,
  vehicle: string,
  session: string,
): Promise<SessionFact | undefined> =>
  (await readNewest<SessionFact>(store, 'sessions', sessionPrefix(vehicle, session)))?.document;

async function collect<T>(store: Store, collection: 'windows' | 'receipts', prefix: string) {
  const documents: T[] = [];
  for await (const { document } of readPrefix<T>(store, collection, prefix)) {
    documents.push(document);
  }
  return documents;
}

/** Whether the sidecar is of this revision and every file the fact names is there with its bytes. */
async function isPublished(fact: ExportFact, files: ExportFiles): Promise<boolean> {
  const sidecar = await readSidecar(files, fact.vehicle, fact.session);
  if (sidecar?.revision !== fact.revision) return false;
  for (const { path, bytes, sha256 } of fact.files) {
    const file = await files.open(path);
    await file?.close();
    if (file?.bytes !== bytes || file.sha256 !== sha256) return false;
  }
  return true;
}

const isConstant = ({ values, present }: StoredTable['columns'][number]): boolean => {
  const first = present.indexOf(1);
  return first >= 0 && present.every((here, row) => here === 0 || values[row] === values[first]);
};

interface Compaction {
  readonly fact: SessionFact;
  readonly plan: readonly WindowFact[];
  readonly results: readonly ResultFact[];
  readonly source: DatasetSource;
  readonly startUs: number;
}

/** Everything a compaction follows from; undefined while a window's result is missing. */
async function gather(
  fact: SessionFact,
  context: ExportContext,
): Promise<Compaction | undefined | (Outcome & { kind: 'parked' })> {
  const { store, software } = context.stage;
  const { vehicle, session, campaign, campaignVersion, firstSeq } = fact;
  const windows = await collect<WindowFact>(store, 'windows', sessionPrefix(vehicle, session));
  const plan = compactionPlan(fact, windows);
  const results = plan && (await loadResults(store, plan));
  if (plan === undefined || results === undefined) return undefined;
  const dbc = Object.assign({}, ...results.map((result) => result.dbc)) as Record<string, string>;
  const names = { vehicle, session, campaign, campaignVersion, dbc };
  const source = await readSource(store, context.decoders, names, software);
  if (isMissing(source)) return { kind: 'parked', ...source };
  // The first batch as of this closing: a still earlier one that comes late closes the session again.
  const firstId = batchId(vehicle, session, firstSeq);
  const first = (await store.get('receipts', firstId)) as ReceiptFact | undefined;
  if (first === undefined) {
    return { kind: 'parked', reason: 'receiptMissing', detail: `there is no receipt ${firstId}` };
  }
  return { fact, plan, results, source, startUs: sessionStartUs(first.clock) };
}

async function writeFiles(
  { fact, plan, results, source, startUs }: Compaction,
  writer: UnitWriter,
  { stage, signal }: ExportContext,
): Promise<ExportedFile[]> {
  const { vehicle, session } = fact;
  const files: ExportedFile[] = [];
  const constantSignals = new Set<string>();
  for (const set of ['recorded', 'raster'] as const) {
    const blocks = results.map((result) => result[set]);
    const merge = set === 'recorded' ? concatRecorded : mergeRaster;
    for await (const table of sessionTables(blocks, merge, session)) {
      signal.throwIfAborted();
      for (const column of set === 'recorded' ? table.columns : []) {
        const key = signalKey(table.bus, table.message.name, column.name);
        if (isConstant(column)) constantSignals.add(key);
      }
      files.push(...(await writeTable(table, set, source, startUs, 'compact', writer)));
    }
  }
  const prefix = sessionPrefix(vehicle, session);
  const receipts = await collect<ReceiptFact>(stage.store, 'receipts', prefix);
  const sidecar = sessionSidecar({
    source,
    session: fact,
    startUs,
    windows: plan,
    results,
    receipts,
    files,
    constantSignals,
  });
  await writer.add(SIDECAR, [Buffer.from(`${JSON.stringify(sidecar, null, 1)}\n`)]);
  return files;
}

/** The files of one closing, published and made a fact; undefined when a newer closing overtook it. */
async function publish(
  compaction: Compaction,
  context: ExportContext,
): Promise<ExportFact | undefined> {
  const { store, log } = context.stage;
  const { vehicle, session, revision } = compaction.fact;
  const writer = await context.files.begin({ vehicle, session, window: null, revision });
  try {
    const files = await writeFiles(compaction, writer, context);
    const isNewest = async (): Promise<boolean> =>
      (await newestSession(store, vehicle, session))?.revision === revision;
    if (!(await writer.publish(isNewest))) return undefined;
    const fact: ExportFact = {
      vehicle,
      session,
      window: null,
      revision,
      files,
      withSession: false,
    };
    const id = exportId(vehicle, session, null, revision);
    const content = sha256Hex(JSON.stringify(files.map(({ path, sha256 }) => [path, sha256])));
    const inserted = await store.insert('exports', id, { ...fact }, content);
    if (inserted.outcome === 'exists' && !inserted.same) {
      log.warn('session compacted again to other bytes', { exportId: id });
    }
    return fact;
  } catch (error) {
    await writer.discard();
    throw error;
  }
}

/** The export of this closing: found complete, or written now. */
async function compactRevision(
  fact: SessionFact,
  context: ExportContext,
): Promise<ExportFact | Outcome | undefined> {
  const { vehicle, session, revision } = fact;
  const id = exportId(vehicle, session, null, revision);
  const done = (await context.stage.store.get('exports', id)) as ExportFact | undefined;
  if (done !== undefined && (await isPublished(done, context.files))) return done;
  const compaction = await gather(fact, context);
  if (compaction === undefined) return DONE;
  return 'kind' in compaction ? compaction : publish(compaction, context);
}

/**
 * Compacts the session's newest closing if it is closed and all its windows have results; says so.
 *
 * Judged from facts alone, so that whichever event comes last does it, at any replica. Replicas that do
 * it at once write equal bytes. One that publishes an old closing late looks again afterwards, finds the
 * newer one and publishes that, so the newest files always win.
 */
export async function compactSession(
  vehicle: string,
  session: string,
  context: ExportContext,
): Promise<Outcome> {
  const { store } = context.stage;
  let fact = await newestSession(store, vehicle, session);
  if (fact?.emulated === true) {
    return exportWithoutFiles({ vehicle, session, window: null, revision: fact.revision }, context);
  }
  for (let round = 0; round < MAX_ROUNDS; round++) {
    if (fact === undefined) return DONE;
    const closing = fact;
    const exported = await compactRevision(closing, context);
    if (exported !== undefined && 'kind' in exported) return exported;
    if (exported !== undefined) {
      const covered = (window: number, revision: number): boolean =>
        covers(closing, { window, revision });
      await context.files.removeParts(vehicle, session, covered);
      await announceExport(exported, closedRanges(closing), context);
    }
    fact = must(await newestSession(store, vehicle, session), 'a closed session stays closed');
    if (exported !== undefined && fact.revision === closing.revision) return DONE;
  }
  return { kind: 'retry', afterMs: 1_000, reason: 'late data keeps closing the session again' };
}

import { exportId } from '#kernel/core/ids.ts';
import type { ExportFact } from '#kernel/facts/facts.ts';
import { DONE, type Outcome } from '#kernel/runtime/stage.ts';
import { announceExport, type ExportContext } from './export-context.ts';
import type { ExportUnit } from './export-unit.ts';

/**
 * What there is to do for an emulated window or session, and in place of any work when a demand stands
 * for it: the fact and its announcement, no files.
 */
export async function exportWithoutFiles(
  { vehicle, session, window, revision }: ExportUnit,
  context: Pick<ExportContext, 'stage' | 'event'>,
): Promise<Outcome> {
  const fact: ExportFact = { vehicle, session, window, revision, files: [], withSession: false };
  const id = exportId(vehicle, session, window, revision);
  await context.stage.store.insert('exports', id, { ...fact });
  // There are no data to hold a batch; time tells which batches were meant.
  await announceExport(fact, [], context);
  return DONE;
}

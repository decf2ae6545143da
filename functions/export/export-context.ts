import { MAX_EXPORTED_RANGES, type SeqRange } from '#eventing/contracts/catalog.ts';
import type { CloudEvent } from '#eventing/contracts/cloud-event.ts';
import { exportId } from '#kernel/core/ids.ts';
import type { ExportFact } from '#kernel/facts/facts.ts';
import type { StageContext } from '#kernel/runtime/stage.ts';
import type { DecoderIndexes } from './decoder-index.ts';
import type { ExportFiles } from './export-files.ts';

/** What handling one event needs. */
export interface ExportContext {
  readonly stage: StageContext;
  readonly files: ExportFiles;
  readonly decoders: DecoderIndexes;
  readonly event: CloudEvent;
  readonly signal: AbortSignal;
}

/** `batches`: the ranges of batches that the exported data hold, ascending. */
export async function announceExport(
  fact: ExportFact,
  batches: readonly SeqRange[],
  context: Pick<ExportContext, 'stage' | 'event'>,
): Promise<void> {
  const { vehicle, session, window, revision, files } = fact;
  await context.stage.emit(
    {
      name: 'dataset.exported.v1',
      factId: exportId(vehicle, session, window, revision),
      subject: vehicle,
      data: {
        vehicle,
        session,
        window,
        revision,
        files: files.length,
        batches: batches.length > MAX_EXPORTED_RANGES ? [] : batches,
      },
    },
    context.event,
  );
}

import { eventType, type SessionClosed } from '#eventing/contracts/catalog.ts';
import type { CloudEvent } from '#eventing/contracts/cloud-event.ts';
import { parseEventData } from '#eventing/contracts/event-data.ts';
import type { StageConfig } from '#kernel/config/stage-config.ts';
import { resultId, sessionPrefix } from '#kernel/core/ids.ts';
import { engineerAuth } from '#kernel/runtime/engineer-auth.ts';
import { OneAtATime } from '#kernel/core/one-at-a-time.ts';
import type { ResultFact } from '#kernel/facts/facts.ts';
import type { Outcome, StageContext, StageDefinition } from '#kernel/runtime/stage.ts';
import { compactSession } from './compact-session.ts';
import { datasetRoutes } from './dataset-routes.ts';
import { DecoderIndexes } from './decoder-index.ts';
import type { ExportContext } from './export-context.ts';
import type { ExportFiles } from './export-files.ts';
import { exportWindow } from './export-window.ts';
import { exportWithoutFiles } from './export-without-files.ts';
import { openFiles } from './open-files.ts';

const WINDOW_PROCESSED = eventType('window.processed.v1');
const SESSION_CLOSED = eventType('session.closed.v1');

/** Exports the window the event names, if it names one; the session whose turn to compact it may be. */
async function exportNamed(
  event: CloudEvent,
  context: ExportContext,
): Promise<Outcome | Pick<SessionClosed, 'vehicle' | 'session'>> {
  if (event.type === SESSION_CLOSED) return parseEventData('session.closed.v1', event);
  const processed = parseEventData('window.processed.v1', event);
  const { vehicle, session, window, revision, versions } = processed;
  const id = resultId(vehicle, session, window, revision, versions);
  const result = (await context.stage.store.get('results', id)) as ResultFact | undefined;
  if (result === undefined) {
    return { kind: 'parked', reason: 'resultMissing', detail: `there is no result ${id}` };
  }
  // An emulated window; but its session may hold recorded ones, which wait for it.
  const outcome =
    result.emulated === true
      ? await exportWithoutFiles(processed, context)
      : await exportWindow(processed, result, context);
  return outcome.kind === 'done' ? processed : outcome;
}

/** In place of the work: what either event leads to, without files. */
function emulateExport(event: CloudEvent, stage: StageContext): Promise<Outcome> {
  const unit =
    event.type === SESSION_CLOSED
      ? { ...parseEventData('session.closed.v1', event), window: null }
      : parseEventData('window.processed.v1', event);
  return exportWithoutFiles(unit, { stage, event });
}

/**
 * Writes processed windows as Parquet and CSV parts, compacts a closed session's parts into one file a
 * message, serves the files, and says what it has written.
 */
export function createExportStage(
  config: Pick<StageConfig, 'filesUrl' | 'engineerTokenSha256'>,
): StageDefinition {
  const auth = engineerAuth(config.engineerTokenSha256);
  const decoders = new DecoderIndexes();
  const compactions = new OneAtATime();
  let opened: ExportFiles | undefined;
  const files = ({ store, clock }: StageContext): ExportFiles =>
    (opened ??= openFiles(config.filesUrl, store, clock));
  return {
    name: 'export',
    consumes: [WINDOW_PROCESSED, SESSION_CLOSED],
    async handle(event, stage, signal) {
      const context = { stage, files: files(stage), decoders, event, signal };
      try {
        const named = await exportNamed(event, context);
        if ('kind' in named) return named;
        const { vehicle, session } = named;
        return await compactions.run(sessionPrefix(vehicle, session), () =>
          compactSession(vehicle, session, context),
        );
      } catch (error) {
        if (!signal.aborted || error !== signal.reason) throw error;
        return { kind: 'retry', afterMs: 0, reason: 'the caller went away' };
      }
    },
    emulate: emulateExport,
    routes: (app, stage) => datasetRoutes(app, stage.store, files(stage), auth),
  };
}

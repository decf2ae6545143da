import type { CloudEvent } from '#eventing/contracts/cloud-event.ts';
import { eventType } from '#eventing/contracts/catalog.ts';
import { parseEventData } from '#eventing/contracts/event-data.ts';
import type { WindowReady } from '#eventing/contracts/catalog.ts';
import type { BlockCodec } from '#kernel/columns/block-format.ts';
import { TachographError } from '#kernel/core/errors.ts';
import { batchId, resultId } from '#kernel/core/ids.ts';
import type { ResultFact } from '#kernel/facts/facts.ts';
import { resultVersions } from '#kernel/facts/result-versions.ts';
import {
  DONE,
  type Outcome,
  type StageContext,
  type StageDefinition,
} from '#kernel/runtime/stage.ts';
import { nextTurn } from '#kernel/system/next-turn.ts';
import { emulatedResult } from './emulated-result.ts';
import { DecoderCache } from './decoder-cache.ts';
import { type LoadedWindow, loadWindow } from './load-window.ts';
import { processWindow, type ProcessedWindow } from './pipeline.ts';

/** Every Node has gzip, whoever reads the block later; zstd saves nothing here (see samples-bench). */
const BLOCK_CODEC: BlockCodec = 'gzip';

/** The caller went away: whoever delivers again may do so at once. */
const ABORTED_RETRY_MS = 0;

/** Decodes, cleanses, resamples and compresses a window's frames, and stores the result. */
export function createDataProcessingStage(): StageDefinition {
  const cache = new DecoderCache();
  return {
    name: 'data-processing',
    consumes: [eventType('window.ready.v1')],
    async handle(event, context, signal) {
      try {
        return await processEvent(event, context, signal, cache);
      } catch (error) {
        if (!signal.aborted || error !== signal.reason) throw error;
        return { kind: 'retry', afterMs: ABORTED_RETRY_MS, reason: 'the caller went away' };
      }
    },
    emulate: (event, context) =>
      finishEmulated(parseEventData('window.ready.v1', event), event, context),
  };
}

async function processEvent(
  event: CloudEvent,
  context: StageContext,
  signal: AbortSignal,
  cache: DecoderCache,
): Promise<Outcome> {
  const ready = parseEventData('window.ready.v1', event);
  const loaded = await loadWindow(ready, context.store, cache, signal);
  if (loaded.kind === 'emulated') return finishEmulated(ready, event, context);
  if (loaded.kind !== 'loaded') return loaded;
  let processed: ProcessedWindow;
  try {
    processed = await processWindow(loaded.input, BLOCK_CODEC, async (name, work) => {
      await nextTurn();
      signal.throwIfAborted();
      const leave = name === 'decode' ? context.span?.()?.enter('decode') : undefined;
      try {
        return work();
      } finally {
        leave?.();
      }
    });
  } catch (error) {
    if (!(error instanceof TachographError) || error.code !== 'BLOCK_TOO_LARGE') throw error;
    return { kind: 'parked', reason: 'windowTooLarge', detail: error.message };
  }
  const versions = resultVersions(loaded.campaign, context.software);
  await finish(resultFact(loaded, processed, versions, context.software), event, context);
  return DONE;
}

async function finishEmulated(
  ready: WindowReady,
  event: CloudEvent,
  context: StageContext,
): Promise<Outcome> {
  await finish(emulatedResult(ready, BLOCK_CODEC, context.software), event, context);
  return DONE;
}

/** Stores the result and announces it. */
async function finish(result: ResultFact, event: CloudEvent, context: StageContext): Promise<void> {
  await storeResult(result, context);
  const { vehicle, session, window, revision, versions } = result;
  await context.emit(
    {
      name: 'window.processed.v1',
      factId: resultId(vehicle, session, window, revision, versions),
      subject: vehicle,
      data: { vehicle, session, window, revision, versions },
    },
    event,
  );
}

function resultFact(
  { window, campaign, input }: LoadedWindow,
  processed: ProcessedWindow,
  versions: string,
  software: string,
): ResultFact {
  const { vehicle, session } = window;
  return {
    vehicle,
    session,
    window: window.window,
    revision: window.revision,
    versions,
    campaign: window.campaign,
    campaignVersion: window.campaignVersion,
    batches: window.seqs.map((seq) => batchId(vehicle, session, seq)),
    dbc: campaign.definition.decoders,
    software,
    fromUs: input.fromUs,
    untilUs: input.untilUs,
    ...processed,
  };
}

/** A repeat finds its own result. Another one under the id was made by another minor version: it stands. */
async function storeResult(result: ResultFact, { store, log }: StageContext): Promise<void> {
  const { vehicle, session, window, revision, versions } = result;
  const id = resultId(vehicle, session, window, revision, versions);
  const inserted = await store.insert('results', id, { ...result });
  if (inserted.outcome === 'exists' && !inserted.same) {
    log.warn('kept an earlier result that differs', { result: id, software: result.software });
  }
}

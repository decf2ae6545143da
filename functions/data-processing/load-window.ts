import type { WindowReady } from '#eventing/contracts/catalog.ts';
import { type Batch, frameCount } from '#kernel/batch/batch.ts';
import { readBatchFact } from '#kernel/batch/read-batch-fact.ts';
import { TachographError } from '#kernel/core/errors.ts';
import { batchId, campaignId, windowId } from '#kernel/core/ids.ts';
import type { DatabaseDecoder } from '#kernel/dbc/message-decoder.ts';
import type { CampaignFact } from '#kernel/facts/campaign.ts';
import type { BatchFact, WindowFact } from '#kernel/facts/facts.ts';
import type { Outcome } from '#kernel/runtime/stage.ts';
import type { Store } from '#kernel/store/store.ts';
import type { DecoderCache } from './decoder-cache.ts';
import { MAX_WINDOW_FRAMES, type WindowInput } from './window-input.ts';

/** The window has no frames by design: there is nothing to load. */
export interface EmulatedWindow {
  readonly kind: 'emulated';
}

export interface LoadedWindow {
  readonly kind: 'loaded';
  readonly window: WindowFact;
  readonly campaign: CampaignFact;
  readonly input: WindowInput;
}

/** A batch is stored before its receipt, so a missing one is a read that came too early, or a removal. */
const MISSING_BATCH_RETRY_MS = 1_000;

const parked = (reason: string, detail: string): Outcome => ({ kind: 'parked', reason, detail });

/**
 * Reads everything a window's result depends on. What is missing for good, or cannot be used, is an
 * outcome: `windowMissing` (its fact is written before its event), `campaignMissing`, `decoderMissing`,
 * `batchUnreadable`, `windowTooLarge`; a batch not there yet is a retry. Rejects with the signal's reason
 * when it aborts.
 */
export async function loadWindow(
  ready: WindowReady,
  store: Store,
  cache: DecoderCache,
  signal: AbortSignal,
): Promise<LoadedWindow | EmulatedWindow | Outcome> {
  const id = windowId(ready.vehicle, ready.session, ready.window, ready.revision);
  const window = (await store.get('windows', id)) as WindowFact | undefined;
  if (window === undefined) return parked('windowMissing', `there is no window ${id}`);
  if (window.emulated === true) return { kind: 'emulated' };
  const version = campaignId(window.campaign, window.campaignVersion);
  const campaign = (await store.get('campaigns', version)) as CampaignFact | undefined;
  if (campaign === undefined) {
    return parked('campaignMissing', `window ${id} names the campaign version ${version}`);
  }
  const decoders = new Map<string, DatabaseDecoder>();
  for (const [bus, sha256] of Object.entries(campaign.definition.decoders)) {
    const decoder = await cache.find(sha256, store);
    if (decoder === undefined) {
      return parked('decoderMissing', `campaign ${version} names the DBC ${sha256} for bus ${bus}`);
    }
    decoders.set(bus, decoder);
  }
  const batches = await loadBatches(window, store, signal);
  if ('kind' in batches) return batches;
  const { signals, processing } = campaign.definition;
  const { fromUs, untilUs } = window;
  const { resample } = processing;
  const input = { fromUs, untilUs, batches, signals, resample, decoders };
  return { kind: 'loaded', window, campaign, input };
}

async function loadBatches(
  window: WindowFact,
  store: Store,
  signal: AbortSignal,
): Promise<readonly Batch[] | Outcome> {
  const batches: Batch[] = [];
  let frames = 0;
  for (const seq of window.seqs) {
    signal.throwIfAborted();
    const id = batchId(window.vehicle, window.session, seq);
    const fact = (await store.get('batches', id)) as BatchFact | undefined;
    if (fact === undefined) {
      const reason = `batch ${id} is not stored`;
      return { kind: 'retry', afterMs: MISSING_BATCH_RETRY_MS, reason };
    }
    try {
      const batch = await readBatchFact(fact);
      frames += frameCount(batch);
      batches.push(batch);
    } catch (error) {
      if (!(error instanceof TachographError) || error.kind !== 'reject') throw error;
      return parked('batchUnreadable', `batch ${id}: ${error.message}`);
    }
    if (frames > MAX_WINDOW_FRAMES) {
      const detail = `more than ${MAX_WINDOW_FRAMES} frames by batch ${id}; use a shorter window`;
      return parked('windowTooLarge', detail);
    }
  }
  return batches;
}

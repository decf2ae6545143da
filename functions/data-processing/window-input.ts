import type { Batch } from '#kernel/batch/batch.ts';
import type { DatabaseDecoder } from '#kernel/dbc/message-decoder.ts';
import type { CampaignDefinition } from '#kernel/facts/campaign.ts';

/** What the steps work on: a window with everything that its result depends on, and nothing else. */
export interface WindowInput {
  /** The window's own span, in µs of the session's monotonic time. */
  readonly fromUs: number;
  readonly untilUs: number;
  /** Ascending by sequence number: the window's own batches and those read back into. */
  readonly batches: readonly Batch[];
  readonly signals: CampaignDefinition['signals'];
  readonly resample: CampaignDefinition['processing']['resample'];
  /** By bus name. */
  readonly decoders: ReadonlyMap<string, DatabaseDecoder>;
}

/** Frames of all batches of a window: 1,000,000 frames take some 100 MB while they are decoded. */
export const MAX_WINDOW_FRAMES = 1_000_000;

export const maxHoldUs = (input: Pick<WindowInput, 'resample'>): number =>
  input.resample.maxHoldMs * 1_000;

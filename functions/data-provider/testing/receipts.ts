import type { CampaignFact } from '#kernel/facts/campaign.ts';
import type { ReceiptFact } from '#kernel/facts/facts.ts';

/** The receipt of a one-second batch with 10 frames, received one second after it was recorded. */
export const receipt = (seq: number, session = 's1'): ReceiptFact => ({
  vehicle: 'v1',
  session,
  seq,
  campaign: 'demo',
  campaignVersion: 1,
  fromUs: seq * 1_000_000,
  untilUs: (seq + 1) * 1_000_000,
  firstUs: seq * 1_000_000,
  lastUs: seq * 1_000_000 + 999_000,
  frames: 10,
  unsortedFrames: 0,
  seen: 10,
  matched: 10,
  recordedByVehicle: 10,
  dropped: {},
  clock: { monotonicUs: 0, wallUs: 1_767_600_000_000_000, source: 'rtc' },
  end: false,
  flags: [],
  sha256: 'a'.repeat(64),
  bodyBytes: 100,
  receivedAtMs: 1_767_600_000_000 + seq * 1_000,
});

/** A campaign of one-second windows, half a second of hold and 30 s of grace. */
export const campaignFact: CampaignFact = {
  campaign: 'demo',
  version: 1,
  state: 'running',
  definition: {
    name: 'demo',
    description: '',
    kind: 'homologation',
    target: { vehicles: 'all' },
    window: { startAt: null, endAt: null },
    decoders: {},
    signals: [],
    rawFrames: 'all',
    upload: { everyMs: 1_000, maxBatchBytes: 1_048_576 },
    cache: { maxBytes: 1_000_000, whenFull: 'dropOldest' },
    processing: {
      windowMs: 1_000,
      graceMs: 30_000,
      abandonAfterMs: 600_000,
      resample: { rasterMs: 100, method: 'hold', maxHoldMs: 500 },
    },
    export: { formats: ['parquet'], values: 'physical' },
  },
  definitionSha256: 'b'.repeat(64),
  createdAtMs: 1_767_600_000_000,
  by: 'test',
};

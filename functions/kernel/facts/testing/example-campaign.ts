import type { CampaignDefinition, CampaignFact } from '../campaign.ts';

/**
 * A campaign for tests: every frame of every vehicle, one-second batches and windows, half a second of
 * hold on a 100 ms raster. A test states only what it is about.
 */
export const exampleDefinition = (
  changes: Partial<CampaignDefinition> = {},
): CampaignDefinition => ({
  name: 'Example',
  description: '',
  kind: 'homologation',
  target: { vehicles: 'all' },
  window: { startAt: null, endAt: null },
  decoders: {},
  signals: [],
  rawFrames: 'all',
  upload: { everyMs: 1_000, maxBatchBytes: 1_048_576 },
  cache: { maxBytes: 10_000_000, whenFull: 'dropOldest' },
  processing: {
    windowMs: 1_000,
    graceMs: 30_000,
    abandonAfterMs: 600_000,
    resample: { rasterMs: 100, method: 'hold', maxHoldMs: 500 },
  },
  export: { formats: ['parquet'], values: 'physical' },
  ...changes,
});

/** The example, approved and running. */
export const exampleCampaign = (
  campaign: string,
  version: number,
  definition: CampaignDefinition = exampleDefinition(),
): CampaignFact => ({
  campaign,
  version,
  state: 'running',
  definition,
  definitionSha256: 'b'.repeat(64),
  createdAtMs: 1_767_600_000_000,
  by: 'test',
});

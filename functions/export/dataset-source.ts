import { campaignId } from '#kernel/core/ids.ts';
import type { CampaignFact } from '#kernel/facts/campaign.ts';
import type { Store } from '#kernel/store/store.ts';
import type { DecoderIndex, DecoderIndexes } from './decoder-index.ts';
import { busNames } from './safe-names.ts';

/** What a session's files say beside their values; the same for all its windows. */
export interface DatasetSource {
  readonly vehicle: string;
  readonly session: string;
  readonly campaign: CampaignFact;
  /** Bus → SHA-256 of its DBC, as the results were decoded. */
  readonly dbc: Readonly<Record<string, string>>;
  /** SHA-256 of a DBC → its names and labels. */
  readonly decoders: ReadonlyMap<string, DecoderIndex>;
  /** Bus → its part of the files' names. */
  readonly busNames: ReadonlyMap<string, string>;
  readonly software: string;
}

/** Why a source cannot be had: an event that needs it is parked. */
export interface Missing {
  readonly reason: 'campaignMissing' | 'decoderMissing';
  readonly detail: string;
}

interface SourceNames {
  readonly vehicle: string;
  readonly session: string;
  readonly campaign: string;
  readonly campaignVersion: number;
  readonly dbc: Readonly<Record<string, string>>;
}

export async function readSource(
  store: Store,
  indexes: DecoderIndexes,
  names: SourceNames,
  software: string,
): Promise<DatasetSource | Missing> {
  const { vehicle, session, dbc } = names;
  const id = campaignId(names.campaign, names.campaignVersion);
  const campaign = (await store.get('campaigns', id)) as CampaignFact | undefined;
  if (campaign === undefined) {
    return { reason: 'campaignMissing', detail: `the campaign version ${id} does not exist` };
  }
  const decoders = new Map<string, DecoderIndex>();
  for (const sha256 of new Set(Object.values(dbc))) {
    const index = await indexes.get(store, sha256);
    if (index === undefined) {
      return { reason: 'decoderMissing', detail: `there is no DBC with SHA-256 ${sha256}` };
    }
    decoders.set(sha256, index);
  }
  const buses = busNames(Object.keys(campaign.definition.decoders).sort());
  return { vehicle, session, campaign, dbc, decoders, busNames: buses, software };
}

export const isMissing = (source: DatasetSource | Missing): source is Missing => 'reason' in source;

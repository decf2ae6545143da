import { sha256Hex } from '#kernel/system/sha256.ts';
import type { CampaignFact } from './campaign.ts';

/**
 * Names everything a result depends on beside its window: the campaign's definition, the DBC of each bus
 * and the software's major version. 16 hex digits, the last part of the result's id; a corrected DBC or
 * a changed algorithm (a new major version) thus gives a new result instead of fighting the old one.
 */
export function resultVersions(
  campaign: Pick<CampaignFact, 'definition' | 'definitionSha256'>,
  software: string,
): string {
  const dbcs = Object.entries(campaign.definition.decoders).sort(([a], [b]) => (a < b ? -1 : 1));
  const parts = [campaign.definitionSha256, dbcs, softwareMajor(software)];
  return sha256Hex(JSON.stringify(parts)).slice(0, 16);
}

/** `tachograph/2.3.4` → `2`; a text without a version counts as a whole. */
function softwareMajor(software: string): string {
  return /(\d+)\.\d+\.\d+/.exec(software)?.[1] ?? software;
}

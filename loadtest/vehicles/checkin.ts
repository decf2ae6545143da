import { TachographError } from '#kernel/core/errors.ts';
import type { CampaignDefinition } from '#kernel/facts/campaign.ts';
import type { CampaignReport, DueCampaign } from './vehicle.ts';

/** A campaign from the answer to a check-in: what the state machine needs of it, and all of it. */
export interface EnactableCampaign {
  readonly due: DueCampaign;
  readonly definition: CampaignDefinition;
}

/** The body of a check-in. */
export const checkinBody = (report: CampaignReport | null): string =>
  JSON.stringify({ campaigns: report === null ? [] : [report] });

/** Reads the answer to a check-in; throws CHECKIN_UNREADABLE. */
export function parseDueCampaigns(body: string): readonly EnactableCampaign[] {
  let answer: unknown;
  try {
    answer = JSON.parse(body);
  } catch (error) {
    throw new TachographError('CHECKIN_UNREADABLE', { detail: body }, { cause: error });
  }
  const campaigns = (answer as { campaigns?: unknown } | null)?.campaigns;
  if (!Array.isArray(campaigns)) throw new TachographError('CHECKIN_UNREADABLE', { detail: body });
  return campaigns.map((campaign) => enactable(campaign as DueAnswer));
}

/** What the service sends for each campaign that is due. */
interface DueAnswer {
  readonly campaign: string;
  readonly version: number;
  readonly definitionSha256: string;
  readonly definition: CampaignDefinition;
}

function enactable({
  campaign,
  version,
  definitionSha256,
  definition,
}: DueAnswer): EnactableCampaign {
  const { cache } = definition;
  return { due: { campaign, version, definitionSha256, cache }, definition };
}

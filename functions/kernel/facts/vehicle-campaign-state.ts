import type { CheckinFact, ToldCampaign } from './checkin.ts';

/** How far one vehicle has come with one campaign. */
export interface VehicleCampaignState {
  readonly state: 'pending' | 'delivered' | 'enacted' | 'recording' | 'done' | 'failed';
  /** Why it failed, in the vehicle's words; null otherwise. */
  readonly reason: string | null;
  /** Time of the check-in that brought it here; null while pending. */
  readonly sinceMs: number | null;
}

const PENDING: VehicleCampaignState = { state: 'pending', reason: null, sinceMs: null };

/**
 * pending → delivered → enacted → recording → done | failed(reason), from the vehicle's check-ins
 * in the order of their times.
 *
 * Only what concerns this very definition counts: with another hash the vehicle is pending again.
 * What it said last is what holds. When it no longer lists a campaign it had enacted, it lost it (a
 * reset): delivered again if that check-in's answer told it anew, else pending; done and failed
 * stay.
 */
export function vehicleCampaignState(
  campaign: Pick<ToldCampaign, 'campaign' | 'definitionSha256'>,
  checkins: Iterable<CheckinFact>,
): VehicleCampaignState {
  let state = PENDING;
  for (const checkin of checkins) state = afterCheckin(state, campaign, checkin);
  return state;
}

function afterCheckin(
  before: VehicleCampaignState,
  campaign: Pick<ToldCampaign, 'campaign' | 'definitionSha256'>,
  { said, told, atMs }: CheckinFact,
): VehicleCampaignState {
  const isThis = (other: Omit<ToldCampaign, 'version'>): boolean =>
    other.campaign === campaign.campaign && other.definitionSha256 === campaign.definitionSha256;
  const report = said.campaigns.find(isThis);
  if (report !== undefined) {
    const reason = report.state === 'failed' ? (report.reason ?? 'no reason given') : null;
    return moved(before, { state: report.state, reason, sinceMs: atMs });
  }
  if (before.state === 'done' || before.state === 'failed') return before;
  if (!told.some(isThis)) return before.state === 'delivered' ? before : PENDING;
  return moved(before, { state: 'delivered', reason: null, sinceMs: atMs });
}

/** A check-in that says the same again does not move the time. */
const moved = (before: VehicleCampaignState, after: VehicleCampaignState): VehicleCampaignState =>
  before.state === after.state && before.reason === after.reason ? before : after;

import type { Batch } from '#kernel/batch/batch.ts';
import { TachographError } from '#kernel/core/errors.ts';
import { MAX_WINDOW } from '#kernel/core/ids.ts';
import type { CampaignFact } from '#kernel/facts/campaign.ts';

/** A batch may touch so many windows; each is a fact, an event and a result of its own. */
const MAX_WINDOWS_PER_BATCH = 1_000;

const isTargeted = ({ definition }: CampaignFact, vehicle: string): boolean =>
  definition.target.vehicles === 'all' || definition.target.vehicles.includes(vehicle);

/**
 * Whether a vehicle should record for this (newest) version now: running, in [startAt, endAt), for
 * it.
 */
export function isDue(campaign: CampaignFact, vehicle: string, nowMs: number): boolean {
  const { startAt, endAt } = campaign.definition.window;
  return (
    campaign.state === 'running' &&
    (startAt === null || nowMs >= Date.parse(startAt)) &&
    (endAt === null || nowMs < Date.parse(endAt)) &&
    isTargeted(campaign, vehicle)
  );
}

/** What the store knows about a batch's campaign. */
export interface CampaignStanding {
  /** The version the batch was recorded for. */
  readonly version: CampaignFact | undefined;
  /** The newest one. */
  readonly newest: CampaignFact | undefined;
  /** What the session's earlier batches were recorded for. */
  readonly session:
    | {
        readonly campaign: string;
        readonly campaignVersion: number;
        readonly emulated?: true;
      }
    | undefined;
}

/**
 * Why a campaign does not take a batch, or undefined when it does: it and the version exist, it is
 * neither draft nor ended, the vehicle is a target, the session has no other campaign, version or
 * kind of batches, the windows are not too many.
 */
export function refusalOf(
  batch: Batch,
  { version, newest, session }: CampaignStanding,
): TachographError | undefined {
  const { campaign, campaignVersion, vehicle } = batch;
  if (version === undefined || newest === undefined) {
    return new TachographError('UPLOAD_CAMPAIGN_UNKNOWN', { campaign, version: campaignVersion });
  }
  if (newest.state === 'draft' || newest.state === 'ended') {
    return new TachographError('UPLOAD_CAMPAIGN_CLOSED', { campaign, state: newest.state });
  }
  if (!isTargeted(version, vehicle)) {
    const fields = { campaign, version: campaignVersion, vehicle };
    return new TachographError('UPLOAD_NOT_TARGETED', fields);
  }
  const changed = sessionChanged(batch, session);
  // An emulated batch is one window, whatever span it gives.
  if (changed !== undefined || batch.emulated === true) return changed;
  return tooManyWindows(batch, version.definition.processing.windowMs);
}

/** A refusal when the batch's session belongs to another campaign, version or kind. */
export function sessionChanged(
  batch: Batch,
  session: CampaignStanding['session'],
): TachographError | undefined {
  if (session === undefined) return undefined;
  const { campaign, campaignVersion: version } = session;
  if (campaign !== batch.campaign || version !== batch.campaignVersion) {
    const fields = { session: batch.session, campaign, version };
    return new TachographError('SESSION_CAMPAIGN_CHANGED', fields);
  }
  // The two kinds number their windows differently.
  if (session.emulated === batch.emulated) return undefined;
  return new TachographError('SESSION_KIND_CHANGED', {
    session: batch.session,
    kind: session.emulated === true ? 'emulated' : 'recorded',
  });
}

/** [5 s, 15 s) in windows of 10 s touches the windows 0 and 1: two. */
function tooManyWindows(batch: Batch, windowMs: number): TachographError | undefined {
  const first = Math.floor(batch.fromUs / 1_000 / windowMs);
  const last = Math.floor((batch.untilUs - 1) / 1_000 / windowMs);
  const windows = last - first + 1;
  if (windows <= MAX_WINDOWS_PER_BATCH && last <= MAX_WINDOW) return undefined;
  return new TachographError('UPLOAD_WINDOWS_TOO_MANY', {
    windows,
    windowMs,
    max: MAX_WINDOWS_PER_BATCH,
    maxWindow: MAX_WINDOW,
  });
}

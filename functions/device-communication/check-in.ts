import { bodyFormat } from '#kernel/batch/batch-codec.ts';
import { MAX_CAMPAIGN_VERSION, MAX_SESSION_US, MAX_WALL_US } from '#kernel/batch/batch-limits.ts';
import type { ObjectAt } from '#kernel/batch/field-reader.ts';
import {
  arrayField,
  choiceField,
  integerField,
  nameField,
  objectAt,
  textField,
} from '#kernel/batch/field-reader.ts';
import { inflateBody } from '#kernel/batch/inflate.ts';
import { decodeStrict } from '#kernel/batch/strict-decode.ts';
import { TachographError } from '#kernel/core/errors.ts';
import type { CampaignDefinition, CampaignFact } from '#kernel/facts/campaign.ts';
import type {
  CampaignReport,
  CheckinFact,
  CheckinReport,
  ToldCampaign,
} from '#kernel/facts/checkin.ts';
import { checkinId, REPORTED_STATES } from '#kernel/facts/checkin.ts';
import type { StageContext } from '#kernel/runtime/stage.ts';
import type { Fact } from '#kernel/store/store.ts';
import type { CampaignBook } from './campaign-book.ts';
import { isDue } from './campaign-rules.ts';
import type { Upload } from './receive-batch.ts';

const MAX_REPORTED_CAMPAIGNS = 1_000;
const MAX_CHECKIN_BYTES = 1_048_576;
/** Check-ins of one vehicle in the same millisecond take the ones after it. */
const MAX_CHECKINS_AT_ONCE = 10;

const SHA256 = /^[0-9a-f]{64}$/;
// oxlint-disable-next-line no-control-regex
const TEXT = /^[^\u0000-\u001f\u007f]{1,500}$/;
const TEXT_RULE = '1 to 500 characters without control characters';

export interface CheckinAnswer {
  readonly vehicle: string;
  readonly serverTimeMs: number;
  /** Path to send batches to, relative to where check-ins are sent from. */
  readonly uploadUrl: string;
  /** Everything the vehicle should record now; what is missing here it stops recording. */
  readonly campaigns: readonly (ToldCampaign & { readonly definition: CampaignDefinition })[];
}

/** Notes what the vehicle says, and tells it the campaigns that are due. */
export async function checkIn(
  request: Upload,
  campaigns: CampaignBook,
  context: StageContext,
): Promise<CheckinAnswer> {
  const { vehicle } = request;
  const said = await readReport(request);
  const nowMs = context.clock.nowMs();
  const due = (await campaigns.all()).filter((campaign) => isDue(campaign, vehicle, nowMs));
  const told = due.map(({ campaign, version, definitionSha256 }) => ({
    campaign,
    version,
    definitionSha256,
  }));
  await note({ vehicle, atMs: nowMs, said, told }, context);
  const uploadUrl = `/v1/vehicles/${vehicle}/batches`;
  return { vehicle, serverTimeMs: nowMs, uploadUrl, campaigns: due.map(asTold) };
}

const asTold = ({ campaign, version, definitionSha256, definition }: CampaignFact) => ({
  campaign,
  version,
  definitionSha256,
  definition,
});

async function note(fact: CheckinFact, { store }: StageContext): Promise<void> {
  for (let shiftMs = 0; shiftMs < MAX_CHECKINS_AT_ONCE; shiftMs++) {
    const atMs = fact.atMs + shiftMs;
    const { vehicle, said, told } = fact;
    const document = { vehicle, atMs, said, told } as unknown as Fact;
    const inserted = await store.insert('checkins', checkinId(vehicle, atMs), document);
    if (inserted.outcome === 'created' || inserted.same) return;
  }
  const detail = `${MAX_CHECKINS_AT_ONCE} check-ins of ${fact.vehicle} at the same moment`;
  throw new TachographError('STORE_BUSY', { detail });
}

/**
 * Throws BODY_EMPTY, BODY_TYPE_UNKNOWN, BODY_MALFORMED, FIELD_INVALID and what inflating throws.
 */
async function readReport({ headers, body }: Upload): Promise<CheckinReport> {
  if (body.length === 0) {
    throw new TachographError('BODY_EMPTY', { expected: 'a check-in, such as {"campaigns":[]}' });
  }
  const format = bodyFormat(String(headers['content-type'] ?? ''));
  const encoding = String(headers['content-encoding'] ?? '');
  const inflated = await inflateBody(body, encoding, MAX_CHECKIN_BYTES);
  const at = objectAt(decodeStrict(inflated, format), '', ['software', 'campaigns', 'clock']);
  const { software, clock } = at.fields;
  return {
    ...(software === undefined ? {} : { software: textField(at, 'software', TEXT, TEXT_RULE) }),
    campaigns: arrayField(at, 'campaigns', 0, MAX_REPORTED_CAMPAIGNS).map(readCampaign),
    ...(clock === undefined ? {} : { clock: readClock(clock) }),
  };
}

function readCampaign(value: unknown, index: number): CampaignReport {
  const known = ['campaign', 'version', 'definitionSha256', 'state', 'reason'];
  const at = objectAt(value, `campaigns[${index}]`, known);
  const hashRule = '64 lower-case hex digits';
  return {
    campaign: nameField(at, 'campaign'),
    version: integerField(at, 'version', 1, MAX_CAMPAIGN_VERSION),
    definitionSha256: textField(at, 'definitionSha256', SHA256, hashRule),
    state: choiceField(at, 'state', REPORTED_STATES),
    ...readReason(at),
  };
}

/** Who says that it failed must say why. */
const readReason = (at: ObjectAt): { readonly reason?: string } =>
  at.fields['reason'] === undefined && at.fields['state'] !== 'failed'
    ? {}
    : { reason: textField(at, 'reason', TEXT, TEXT_RULE) };

function readClock(value: unknown): NonNullable<CheckinReport['clock']> {
  const at = objectAt(value, 'clock', ['monotonicUs', 'wallUs', 'source']);
  return {
    monotonicUs: integerField(at, 'monotonicUs', 0, MAX_SESSION_US),
    wallUs: integerField(at, 'wallUs', 0, MAX_WALL_US),
    source: choiceField(at, 'source', ['gnss', 'ntp', 'rtc', 'none']),
  };
}

import { TachographError } from '#kernel/core/errors.ts';
import { campaignId, namePart, prefixEnd, timePart } from '#kernel/core/ids.ts';
import type { CampaignFact } from '#kernel/facts/campaign.ts';
import { ENGINEER } from '#kernel/runtime/engineer-auth.ts';
import type { StageContext } from '#kernel/runtime/stage.ts';
import { factHash } from '#kernel/store/fact-codec.ts';
import { readNewest } from '#kernel/store/read-prefix.ts';
import type { Store } from '#kernel/store/store.ts';
import type { ParsedCampaign } from './parse-campaign.ts';
import { type CampaignAction, stateAfter } from './transitions.ts';

/** The newest version, or CAMPAIGN_UNKNOWN. */
export async function newestVersion(store: Store, campaign: string): Promise<CampaignFact> {
  const found = await findNewest(store, campaign);
  if (found === undefined) throw new TachographError('CAMPAIGN_UNKNOWN', { campaign });
  return found;
}

async function findNewest(store: Store, campaign: string): Promise<CampaignFact | undefined> {
  const prefix = `${namePart(campaign, 'campaign')}/`;
  return (await readNewest<CampaignFact>(store, 'campaigns', prefix))?.document;
}

/** One version, or CAMPAIGN_UNKNOWN. */
export async function oneVersion(
  store: Store,
  campaign: string,
  version: number,
): Promise<CampaignFact> {
  const document = await store.get('campaigns', campaignId(campaign, version));
  if (document !== undefined) return document as unknown as CampaignFact;
  throw new TachographError('CAMPAIGN_UNKNOWN', { campaign: `${campaign} of version ${version}` });
}

/**
 * The newest version of each campaign after `after`, in the order of names: one read a campaign.
 */
export async function listCampaigns(
  store: Store,
  after: string,
  limit: number,
): Promise<readonly CampaignFact[]> {
  const facts: CampaignFact[] = [];
  let from = after === '' ? '' : prefixEnd(`${namePart(after, 'campaign')}/`);
  while (facts.length < limit) {
    const [first] = await store.range('campaigns', from, prefixEnd(''), { limit: 1 });
    if (first === undefined) break;
    const { campaign } = first.document as unknown as CampaignFact;
    facts.push(await newestVersion(store, campaign));
    from = prefixEnd(`${campaign}/`);
  }
  return facts;
}

/**
 * Keeps a definition as a draft: a new campaign, or a draft's next version. An equal draft is left
 * as it is (`created` false). CAMPAIGN_NOT_DRAFT once it was approved.
 */
export async function createDraft(
  { id, definition }: Pick<ParsedCampaign, 'id' | 'definition'>,
  context: StageContext,
): Promise<{ readonly fact: CampaignFact; readonly created: boolean }> {
  const newest = await findNewest(context.store, id);
  if (newest !== undefined && newest.state !== 'draft') {
    throw new TachographError('CAMPAIGN_NOT_DRAFT', { campaign: id, state: newest.state });
  }
  const definitionSha256 = factHash(definition);
  if (newest !== undefined && newest.definitionSha256 === definitionSha256) {
    await announce(newest, context);
    return { fact: newest, created: false };
  }
  const fact: CampaignFact = {
    campaign: id,
    version: (newest?.version ?? 0) + 1,
    state: 'draft',
    definition,
    definitionSha256,
    createdAtMs: context.clock.nowMs(),
    by: ENGINEER,
  };
  await insertVersion(fact, context);
  return { fact, created: true };
}

/** Does an action; CAMPAIGN_TRANSITION where the state does not allow it. */
export async function changeState(
  campaign: string,
  action: CampaignAction,
  context: StageContext,
): Promise<CampaignFact> {
  const newest = await newestVersion(context.store, campaign);
  const state = stateAfter(campaign, newest.state, action);
  if (state === newest.state) {
    await announce(newest, context);
    return newest;
  }
  const fact: CampaignFact = {
    ...newest,
    version: newest.version + 1,
    state,
    createdAtMs: context.clock.nowMs(),
    by: ENGINEER,
  };
  await insertVersion(fact, context);
  return fact;
}

/**
 * The unique insert decides between two who change the campaign at once: the loser gets
 * CAMPAIGN_RACE.
 */
async function insertVersion(fact: CampaignFact, context: StageContext): Promise<void> {
  const { campaign, version } = fact;
  const inserted = await context.store.insert('campaigns', campaignId(campaign, version), fact);
  if (inserted.outcome === 'exists' && !inserted.same) {
    throw new TachographError('CAMPAIGN_RACE', { campaign, version });
  }
  await announce(fact, context);
}

/**
 * Audit and event of a version. Both have ids made of the version, so that saying it again (after a
 * failure between insert and event) repeats and never doubles.
 */
async function announce(fact: CampaignFact, context: StageContext): Promise<void> {
  const { campaign, version, state, createdAtMs, by } = fact;
  const factId = campaignId(campaign, version);
  const audit = { atMs: createdAtMs, by, what: 'campaign', campaign, version, state };
  await context.store.insert('audit', `${timePart(createdAtMs)}/campaign/${factId}`, audit);
  const data = { campaign, version, state };
  await context.emit({ name: 'campaign.changed.v1', factId, subject: campaign, data }, undefined);
  context.log.info('campaign changed', data);
}

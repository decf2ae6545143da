import type { Clock } from '#kernel/core/clock.ts';
import { campaignId, namePart, prefixEnd } from '#kernel/core/ids.ts';
import type { CampaignFact } from '#kernel/facts/campaign.ts';
import { readNewest } from '#kernel/store/read-prefix.ts';
import type { Store } from '#kernel/store/store.ts';
import type { Log } from '#kernel/system/log.ts';
import { ExpiringCache } from './expiring-cache.ts';

/** How long a campaign's end may go unnoticed. */
const NEWEST_TTL_MS = 1_000;
/** Check-ins of many vehicles share one reading of all campaigns for so long. */
const ALL_TTL_MS = 2_000;
/** One version never changes; this bounds only what removal for privacy takes to be seen. */
const VERSION_TTL_MS = 60_000;
const MAX_ENTRIES = 1_000;
/**
 * More campaigns than this are not offered to vehicles: the first in the order of names go missing.
 */
export const MAX_CAMPAIGNS = 5_000;

/** The campaigns as facts, read through small caches. */
export class CampaignBook {
  readonly #store: Store;
  readonly #log: Log;
  readonly #newest: ExpiringCache<CampaignFact | undefined>;
  readonly #versions: ExpiringCache<CampaignFact | undefined>;
  readonly #all: ExpiringCache<readonly CampaignFact[]>;

  constructor(store: Store, clock: Clock, log: Log) {
    this.#store = store;
    this.#log = log;
    this.#newest = new ExpiringCache(clock, NEWEST_TTL_MS, MAX_ENTRIES);
    this.#versions = new ExpiringCache(clock, VERSION_TTL_MS, MAX_ENTRIES);
    this.#all = new ExpiringCache(clock, ALL_TTL_MS, 1);
  }

  /** The newest version of a campaign: it tells the state. */
  newest(campaign: string): Promise<CampaignFact | undefined> {
    return this.#newest.get(campaign, async () => {
      const prefix = `${namePart(campaign, 'campaign')}/`;
      const found = await readNewest<CampaignFact>(this.#store, 'campaigns', prefix);
      return found?.document;
    });
  }

  /** One version of a campaign: it tells the definition. */
  async version(campaign: string, version: number): Promise<CampaignFact | undefined> {
    const id = campaignId(campaign, version);
    const fact = await this.#versions.get(id, async () => {
      const document = await this.#store.get('campaigns', id);
      return document as unknown as CampaignFact | undefined;
    });
    // A version that does not exist yet may do so in the next moment.
    if (fact === undefined) this.#versions.forget(id);
    return fact;
  }

  /** Reads the campaign's state anew for the next caller. */
  forget(campaign: string): void {
    this.#newest.forget(campaign);
  }

  /** The newest version of every campaign. */
  all(): Promise<readonly CampaignFact[]> {
    return this.#all.get('all', () => this.#readAll());
  }

  /** From the highest id downwards, one read a campaign: older versions are jumped over. */
  async #readAll(): Promise<readonly CampaignFact[]> {
    const facts: CampaignFact[] = [];
    let to = prefixEnd('');
    for (;;) {
      const options = { limit: 1, descending: true };
      const [found] = await this.#store.range('campaigns', '', to, options);
      if (found === undefined) return facts;
      if (facts.length === MAX_CAMPAIGNS) {
        this.#log.warn('more campaigns than are offered', { max: MAX_CAMPAIGNS, below: to });
        return facts;
      }
      const fact = found.document as unknown as CampaignFact;
      facts.push(fact);
      // Ids below `name/` are those of the campaigns before it: its own all start with that.
      to = `${namePart(fact.campaign, 'campaign')}/`;
    }
  }
}

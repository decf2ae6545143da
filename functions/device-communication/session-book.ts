import type { Batch } from '#kernel/batch/batch.ts';
import type { Clock } from '#kernel/core/clock.ts';
import { TachographError } from '#kernel/core/errors.ts';
import { bindingId, prefixEnd, sessionPrefix } from '#kernel/core/ids.ts';
import type { BindingFact, ReceiptFact } from '#kernel/facts/facts.ts';
import type { Store } from '#kernel/store/store.ts';
import { ExpiringCache } from './expiring-cache.ts';

const TTL_MS = 60_000;
const MAX_SESSIONS = 10_000;

/** The campaign and version a session is recorded for, and its kind. */
export type SessionCampaign = Pick<BindingFact, 'campaign' | 'campaignVersion' | 'emulated'>;

/**
 * What each session is bound to. Once it is bound, the answer comes from memory for a minute.
 */
export class SessionBook {
  readonly #store: Store;
  readonly #bound: ExpiringCache<SessionCampaign | undefined>;

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#bound = new ExpiringCache(clock, TTL_MS, MAX_SESSIONS);
  }

  /** What the session is recorded for, as far as it is known: a first batch may be coming. */
  async campaignOf({ vehicle, session }: Batch): Promise<SessionCampaign | undefined> {
    const bound = await this.#binding(bindingId(vehicle, session));
    if (bound !== undefined) return bound;
    // A session may be older than bindings; any receipt tells, and its next batch binds it.
    const prefix = sessionPrefix(vehicle, session);
    const [found] = await this.#store.range('receipts', prefix, prefixEnd(prefix), { limit: 1 });
    return found?.document as ReceiptFact | undefined;
  }

  /**
   * Binds the session to the batch's campaign and version unless it is bound already; answers what
   * it is bound to. Of two first batches at once one binds and both get the same answer.
   */
  async bind(batch: Batch): Promise<SessionCampaign> {
    const { vehicle, session, campaign, campaignVersion, emulated } = batch;
    const id = bindingId(vehicle, session);
    const bound = await this.#binding(id);
    if (bound !== undefined) return bound;
    const kind = emulated === true ? { emulated } : {};
    const fact: BindingFact = { vehicle, session, campaign, campaignVersion, ...kind };
    const inserted = await this.#store.insert('bindings', id, fact);
    if (inserted.outcome === 'created' || inserted.same) return fact;
    // Past the cache: another caller may be reading what was there before.
    const winner = await this.#read(id);
    if (winner !== undefined) return winner;
    throw new TachographError('STORE_BUSY', { detail: `bindings/${id} is being removed` });
  }

  async #read(id: string): Promise<BindingFact | undefined> {
    return (await this.#store.get('bindings', id)) as BindingFact | undefined;
  }

  async #binding(id: string): Promise<SessionCampaign | undefined> {
    const bound = await this.#bound.get(id, () => this.#read(id));
    if (bound === undefined) this.#bound.forget(id);
    return bound;
  }
}

import { isNamePart, prefixEnd, sessionPrefix } from '#kernel/core/ids.ts';
import type { CampaignFact } from '#kernel/facts/campaign.ts';
import type { CheckinFact } from '#kernel/facts/checkin.ts';
import type { ReceiptFact } from '#kernel/facts/facts.ts';
import { vehicleCampaignState } from '#kernel/facts/vehicle-campaign-state.ts';
import type { VehicleCampaignState } from '#kernel/facts/vehicle-campaign-state.ts';
import { readNewest } from '#kernel/store/read-prefix.ts';
import type { Collection, Store } from '#kernel/store/store.ts';

/** A vehicle repeats in each check-in what it has enacted, so that the newest tell its state. */
const MAX_CHECKINS = 200;
/** Sessions looked at: one a power cycle. */
const MAX_SESSIONS = 200;

export interface VehicleState extends VehicleCampaignState {
  readonly vehicle: string;
  /** Its recording sessions for this campaign that batches came in from. */
  readonly sessions: number;
  /** When its newest batch came in; null before the first. */
  readonly lastBatchAtMs: number | null;
}

/** How far each targeted vehicle after `after` has come, in the order of names. */
export async function vehicleStates(
  store: Store,
  campaign: CampaignFact,
  after: string,
  limit: number,
): Promise<readonly VehicleState[]> {
  const states: VehicleState[] = [];
  for await (const vehicle of targetedVehicles(store, campaign, after)) {
    if (states.length === limit) break;
    states.push(await vehicleState(store, campaign, vehicle));
  }
  return states;
}

/** The listed vehicles; for `all`, those that ever checked in. */
async function* targetedVehicles(
  store: Store,
  { definition }: CampaignFact,
  after: string,
): AsyncGenerator<string> {
  const { vehicles } = definition.target;
  if (vehicles !== 'all') {
    // Sorted when the campaign was read; byte order is that of the names' ASCII.
    yield* vehicles.filter((vehicle) => vehicle > after);
    return;
  }
  yield* namesUnder(store, 'checkins', '', after);
}

/** The next parts of the ids under a prefix, each once: one read a name. */
async function* namesUnder(
  store: Store,
  collection: Collection,
  prefix: string,
  after: string,
): AsyncGenerator<string> {
  let from = after === '' ? prefix : prefixEnd(`${prefix}${after}/`);
  for (;;) {
    const [first] = await store.range(collection, from, prefixEnd(prefix), { limit: 1 });
    const name = first?.id.slice(prefix.length).split('/')[0];
    if (!isNamePart(name)) return;
    yield name;
    from = prefixEnd(`${prefix}${name}/`);
  }
}

async function vehicleState(
  store: Store,
  campaign: CampaignFact,
  vehicle: string,
): Promise<VehicleState> {
  const prefix = `${vehicle}/`;
  const options = { limit: MAX_CHECKINS, descending: true };
  const newest = await store.range('checkins', prefix, prefixEnd(prefix), options);
  const checkins = newest.map(({ document }) => document as unknown as CheckinFact).reverse();
  const said = vehicleCampaignState(campaign, checkins);
  const receipts = await newestReceipts(store, campaign, vehicle);
  const lastBatchAtMs =
    receipts.length === 0 ? null : Math.max(...receipts.map(({ receivedAtMs }) => receivedAtMs));
  const isBehind = said.state === 'delivered' || said.state === 'enacted';
  // Batches prove that it records, even where it has not checked in since it began.
  const state =
    isBehind && lastBatchAtMs !== null
      ? { state: 'recording' as const, reason: null, sinceMs: lastBatchAtMs }
      : said;
  return { vehicle, ...state, sessions: receipts.length, lastBatchAtMs };
}

/** The newest receipt of each of the vehicle's sessions that belongs to the campaign. */
async function newestReceipts(
  store: Store,
  { campaign }: CampaignFact,
  vehicle: string,
): Promise<readonly ReceiptFact[]> {
  const receipts: ReceiptFact[] = [];
  let looked = 0;
  for await (const session of namesUnder(store, 'receipts', `${vehicle}/`, '')) {
    if (looked++ === MAX_SESSIONS) break;
    const newest = await readNewest<ReceiptFact>(
      store,
      'receipts',
      sessionPrefix(vehicle, session),
    );
    if (newest?.document.campaign === campaign) receipts.push(newest.document);
  }
  return receipts;
}

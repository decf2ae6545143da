import type { CloudEvent } from '#eventing/contracts/cloud-event.ts';
import { campaignId, sessionId, sessionPrefix, windowId } from '#kernel/core/ids.ts';
import type { CampaignFact } from '#kernel/facts/campaign.ts';
import type { ReceiptFact, SessionFact, WindowFact } from '#kernel/facts/facts.ts';
import { DONE, type Outcome, type StageContext } from '#kernel/runtime/stage.ts';
import { readPrefix } from '#kernel/store/read-prefix.ts';
import { ATTRIBUTE } from '#kernel/telemetry/names.ts';
import { parseTraceparent } from '#kernel/telemetry/propagation.ts';
import { loadSession, readNewReceipts } from './load-session.ts';
import { planSession } from './plan-session.ts';
import { planWindows } from './plan-windows.ts';
import type { SessionCache } from './session-cache.ts';
import { windowRules, type SessionState } from './session-state.ts';

/** Closings in one handling; what is beyond goes on when the event is delivered again. */
export const MAX_WINDOWS_PER_EVENT = 500;

/** How often a lost race with another replica is met by reading again before the event waits. */
const MAX_RACES = 3;

/** Another replica wrote a different fact under the id: our reading is old. */
class LostRace extends Error {}

interface Work {
  readonly vehicle: string;
  readonly session: string;
  readonly event: CloudEvent;
  readonly context: StageContext;
  readonly signal: AbortSignal;
}

/** The session from memory or from the store; undefined when it has no receipt or no campaign. */
async function currentState(
  work: Work,
  cache: SessionCache,
): Promise<{ state: SessionState; touched: Set<number> } | { parked: string } | undefined> {
  const { vehicle, session, context } = work;
  const key = sessionPrefix(vehicle, session);
  const cached = cache.get(key);
  if (cached !== undefined) {
    const touched = await readNewReceipts(context.store, vehicle, session, cached);
    return { state: cached, touched };
  }
  const page = readPrefix<ReceiptFact>(context.store, 'receipts', key, { pageSize: 1 });
  const first = await page.next();
  if (first.done === true) return undefined;
  const { campaign, campaignVersion } = first.value.document;
  const id = campaignId(campaign, campaignVersion);
  const fact = (await context.store.get('campaigns', id)) as CampaignFact | undefined;
  if (fact === undefined) return { parked: `the campaign version ${id} does not exist` };
  return loadSession(context.store, vehicle, session, windowRules(fact.definition));
}

/** Writes a planned window; a loser whose rival wrote the same set takes the rival's fact. */
async function writeWindow(fact: WindowFact, state: SessionState, work: Work): Promise<void> {
  const { store } = work.context;
  const id = windowId(fact.vehicle, fact.session, fact.window, fact.revision);
  const inserted = await store.insert('windows', id, { ...fact });
  if (inserted.outcome === 'created' || inserted.same) {
    state.addWindow(fact);
    return;
  }
  const rival = (await store.get('windows', id)) as WindowFact | undefined;
  if (rival === undefined || rival.seqs.join() !== fact.seqs.join()) throw new LostRace(id);
  state.addWindow(rival);
}

/**
 * The window goes on in the trace of the batch whose event closed it. The traces of its other batches end
 * with their own events; a link leads from here to each of them.
 */
function linkBatches(fact: WindowFact, state: SessionState, { context }: Work): void {
  const span = context.span?.();
  if (span === undefined) return;
  const own = parseTraceparent(span.place.traceparent)?.traceId;
  const nowMs = context.clock.nowMs();
  for (const seq of fact.ownSeqs) {
    const receipt = state.receipts.get(seq);
    const traceparent = receipt?.trace;
    if (receipt === undefined || traceparent === undefined) continue;
    if (parseTraceparent(traceparent)?.traceId === own) continue;
    const { vehicle, session, window } = fact;
    span.link(
      { traceparent },
      {
        [ATTRIBUTE.vehicle]: vehicle,
        [ATTRIBUTE.session]: session,
        [ATTRIBUTE.seq]: seq,
        [ATTRIBUTE.window]: window,
        [ATTRIBUTE.windowWaitMs]: Math.max(0, nowMs - receipt.receivedAtMs),
      },
    );
  }
}

async function announceWindow(fact: WindowFact, work: Work): Promise<void> {
  const { vehicle, session, window, revision } = fact;
  await work.context.emit(
    {
      name: 'window.ready.v1',
      factId: windowId(vehicle, session, window, revision),
      subject: vehicle,
      data: { vehicle, session, window, revision },
    },
    work.event,
  );
}

async function writeSession(fact: SessionFact, state: SessionState, work: Work): Promise<void> {
  const id = sessionId(fact.vehicle, fact.session, fact.revision);
  const inserted = await work.context.store.insert('sessions', id, { ...fact });
  if (inserted.outcome === 'exists' && !inserted.same) throw new LostRace(id);
  state.addSession(fact);
}

async function announceSession(fact: SessionFact, work: Work): Promise<void> {
  const { vehicle, session, revision } = fact;
  await work.context.emit(
    {
      name: 'session.closed.v1',
      factId: sessionId(vehicle, session, revision),
      subject: vehicle,
      data: { vehicle, session, revision },
    },
    work.event,
  );
}

/**
 * Closes what can be closed, then announces everything *this event* closed, now or at an earlier
 * delivery. The fact names the event that closed it (`closedBy`), and that event is delivered until
 * it was handled to the end; so a crash between the insert and the emission loses nothing.
 */
async function advance(
  state: SessionState,
  touched: ReadonlySet<number>,
  work: Work,
): Promise<Outcome> {
  const { event, context, signal } = work;
  const candidates = new Set([...touched, ...state.openWindows]);
  const planned = planWindows(state, candidates, context.clock.nowMs(), event.id);
  for (const fact of planned.slice(0, MAX_WINDOWS_PER_EVENT)) {
    signal.throwIfAborted();
    await writeWindow(fact, state, work);
  }
  for (const fact of state.windows.values()) {
    if (fact.closedBy !== event.id) continue;
    linkBatches(fact, state, work);
    await announceWindow(fact, work);
  }
  if (planned.length > MAX_WINDOWS_PER_EVENT) {
    const left = planned.length - MAX_WINDOWS_PER_EVENT;
    return { kind: 'retry', afterMs: 0, reason: `${left} more windows to close` };
  }
  const closing = planSession(state, context.clock.nowMs(), event.id);
  if (closing !== undefined) await writeSession(closing, state, work);
  const { session } = state;
  if (session?.closedBy === event.id) await announceSession(session, work);
  return DONE;
}

/**
 * Brings one session up to date with its receipts and the time.
 *
 * `seq` is the batch the event announces (undefined for a tick): its receipt was written before the
 * event was sent, so one that is missing is a reading that must be repeated.
 */
export async function followSession(
  work: Work,
  seq: number | undefined,
  cache: SessionCache,
): Promise<Outcome> {
  const key = sessionPrefix(work.vehicle, work.session);
  return cache.withSession(key, async () => {
    for (let race = 0; race < MAX_RACES; race++) {
      try {
        const current = await currentState(work, cache);
        if (current === undefined || 'parked' in current) {
          if (current !== undefined) {
            return { kind: 'parked', reason: 'campaignMissing', detail: current.parked };
          }
          return { kind: 'retry', afterMs: 1_000, reason: 'the receipt is not there yet' };
        }
        if (seq !== undefined && !current.state.receipts.has(seq)) {
          return { kind: 'retry', afterMs: 1_000, reason: 'the receipt is not there yet' };
        }
        const outcome = await advance(current.state, current.touched, work);
        cache.set(key, current.state);
        return outcome;
      } catch (error) {
        // Whatever was half done is planned anew from the facts.
        cache.forget(key);
        if (!(error instanceof LostRace)) throw error;
      }
    }
    return { kind: 'retry', afterMs: 1_000, reason: 'other replicas closed windows meanwhile' };
  });
}

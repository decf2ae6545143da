import type { CloudEvent } from '#eventing/contracts/cloud-event.ts';
import { prefixEnd, sessionPrefix } from '#kernel/core/ids.ts';
import { readNewest } from '#kernel/store/read-prefix.ts';
import type { SessionFact, ReceiptFact } from '#kernel/facts/facts.ts';
import { DONE, type Outcome, type StageContext } from '#kernel/runtime/stage.ts';
import { followSession } from './follow-session.ts';
import type { SessionCache } from './session-cache.ts';

/** Sessions looked at in one tick; the next tick goes on where this one ended. */
export const MAX_SESSIONS_PER_TICK = 10_000;

/** Where the last tick of this process stopped; '' starts at the beginning. */
export interface TickCursor {
  after: string;
}

/**
 * A tick of the platform's clock: sessions in which time alone has to close something.
 *
 * Sessions are found by skipping from one prefix of `receipts` to the next, one look-up each; closed
 * ones cost one more. A session whose handling asks for another try keeps the tick from being done.
 */
export async function tick(
  event: CloudEvent,
  context: StageContext,
  signal: AbortSignal,
  cache: SessionCache,
  cursor: TickCursor,
  maxSessions = MAX_SESSIONS_PER_TICK,
): Promise<Outcome> {
  let outcome: Outcome = DONE;
  let after = cursor.after;
  for (let looked = 0; looked < maxSessions; looked++) {
    signal.throwIfAborted();
    const [found] = await context.store.range('receipts', after, '\u{10FFFF}', { limit: 1 });
    if (found === undefined) {
      if (outcome.kind === 'done') cursor.after = '';
      return outcome;
    }
    const { vehicle, session } = found.document as unknown as ReceiptFact;
    const prefix = sessionPrefix(vehicle, session);
    after = prefixEnd(prefix);
    const closed = await readNewest<SessionFact>(context.store, 'sessions', prefix);
    if (closed !== undefined && closed.document.closedBy !== event.id) continue;
    const work = { vehicle, session, event, context, signal };
    const followed = await followSession(work, undefined, cache);
    if (followed.kind === 'retry') outcome = followed;
  }
  // A tick that failed or must be repeated leaves the cursor, so that its repeat sees the same sessions.
  if (outcome.kind === 'done') cursor.after = after;
  context.log.warn('more sessions than one tick looks at', { maxSessions });
  return outcome;
}

import { PING_TYPE } from '#eventing/contracts/catalog.ts';
import type { CloudEvent } from '#eventing/contracts/cloud-event.ts';
import { parseEventData } from '#eventing/contracts/event-data.ts';
import { batchId, sessionId, windowId } from '#kernel/core/ids.ts';
import type { ReceiptFact, SessionFact, WindowFact } from '#kernel/facts/facts.ts';
import { DONE, type Outcome, type StageContext } from '#kernel/runtime/stage.ts';

/**
 * What the stage does in place of following sessions, when a demand stands for that: each batch is its
 * own window, and an end mark closes the session, whatever else is known of it. Both are marked as
 * emulated, so that nothing is computed for them further on.
 */
export async function emulateFollowing(event: CloudEvent, context: StageContext): Promise<Outcome> {
  if (event.type === PING_TYPE) return DONE;
  const { vehicle, session, seq } = parseEventData('batch.stored.v1', event);
  const id = batchId(vehicle, session, seq);
  const receipt = (await context.store.get('receipts', id)) as ReceiptFact | undefined;
  if (receipt === undefined) {
    return { kind: 'retry', afterMs: 1_000, reason: 'the receipt is not there yet' };
  }
  const window = windowOf(receipt, event.id);
  const { revision } = window;
  const factId = windowId(vehicle, session, seq, revision);
  await context.store.insert('windows', factId, { ...window });
  const subject = vehicle;
  const data = { vehicle, session, window: seq, revision };
  await context.emit({ name: 'window.ready.v1', factId, subject, data }, event);
  if (receipt.end) await closeSession(sessionOf(receipt, event.id), event, context);
  return DONE;
}

async function closeSession(
  fact: SessionFact,
  event: CloudEvent,
  context: StageContext,
): Promise<void> {
  const { vehicle, session, revision } = fact;
  const factId = sessionId(vehicle, session, revision);
  await context.store.insert('sessions', factId, { ...fact });
  const data = { vehicle, session, revision };
  await context.emit({ name: 'session.closed.v1', factId, subject: vehicle, data }, event);
}

function windowOf(receipt: ReceiptFact, closedBy: string): WindowFact {
  const { vehicle, session, seq, campaign, campaignVersion, fromUs, untilUs } = receipt;
  return {
    vehicle,
    session,
    window: seq,
    revision: 1,
    campaign,
    campaignVersion,
    fromUs,
    untilUs,
    seqs: [seq],
    ownSeqs: [seq],
    gaps: [],
    reason: 'covered',
    emulated: true,
    closedBy,
  };
}

/** By the end mark alone: its number says how many batches there should be. */
function sessionOf(receipt: ReceiptFact, closedBy: string): SessionFact {
  const { vehicle, session, seq, campaign, campaignVersion } = receipt;
  return {
    vehicle,
    session,
    revision: 1,
    campaign,
    campaignVersion,
    reason: 'endMark',
    emulated: true,
    batches: seq + 1,
    frames: 0,
    firstSeq: 0,
    lastSeq: seq,
    gaps: [],
    dropped: {},
    windows: [],
    closedBy,
  };
}

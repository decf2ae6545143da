import { must } from '#kernel/core/assert.ts';
import type { SessionFact } from '#kernel/facts/facts.ts';
import { seqGaps } from './seq-gaps.ts';
import type { SessionState } from './session-state.ts';

/** Why the session may close now; undefined while it must wait. */
function closeReason(state: SessionState, nowMs: number): SessionFact['reason'] | undefined {
  if (state.session !== undefined) {
    return state.endSeq === undefined ? 'abandoned' : 'endMark';
  }
  if (state.complete) return 'endMark';
  const silentMs = nowMs - state.lastReceivedAtMs;
  if (state.endSeq !== undefined) return silentMs >= state.rules.graceMs ? 'endMark' : undefined;
  return silentMs >= state.rules.abandonAfterMs ? 'abandoned' : undefined;
}

/**
 * What a session's closing says, apart from its revision and from who closed it. Field by field: a
 * document read from the store has its keys in another order.
 */
const content = (fact: SessionFact): string =>
  JSON.stringify([
    fact.reason,
    fact.batches,
    fact.frames,
    fact.firstSeq,
    fact.lastSeq,
    fact.gaps.map((gap) => [gap.firstSeq, gap.lastSeq]),
    Object.entries(fact.dropped).toSorted(([a], [b]) => (a < b ? -1 : 1)),
    fact.windows.map(({ window, revision }) => [window, revision]),
  ]);

/**
 * The session's closing to write now, or undefined: it is still open, or its newest closing says the
 * same already. A session closes after its last window; late data closes it again, one revision up.
 */
export function planSession(
  state: SessionState,
  nowMs: number,
  closedBy: string,
): SessionFact | undefined {
  if (state.openWindows.size > 0 || state.receipts.size === 0) return undefined;
  const reason = closeReason(state, nowMs);
  if (reason === undefined) return undefined;
  const seqs = [...state.receipts.keys()].toSorted((a, b) => a - b);
  const firstSeq = must(seqs[0], 'a session has a receipt');
  const first = must(state.receipts.get(firstSeq), 'the first receipt is known');
  const dropped: Record<string, number> = {};
  let frames = 0;
  let emulated = true;
  for (const seq of seqs) {
    const receipt = must(state.receipts.get(seq), 'every number has its receipt');
    frames += receipt.frames;
    emulated &&= receipt.emulated === true;
    for (const [why, count] of Object.entries(receipt.dropped)) {
      dropped[why] = (dropped[why] ?? 0) + count;
    }
  }
  const lastSeq = Math.max(state.highestSeq, state.endSeq ?? -1);
  const fact: SessionFact = {
    vehicle: first.vehicle,
    session: first.session,
    revision: (state.session?.revision ?? 0) + 1,
    campaign: first.campaign,
    campaignVersion: first.campaignVersion,
    reason,
    ...(emulated ? { emulated: true } : {}),
    batches: seqs.length,
    frames,
    firstSeq,
    lastSeq,
    gaps: seqGaps((seq) => state.receipts.has(seq), lastSeq),
    dropped,
    windows: [...state.windows.values()]
      .map(({ window, revision }) => ({ window, revision }))
      .toSorted((a, b) => a.window - b.window),
    closedBy,
  };
  const known = state.session;
  return known !== undefined && content(known) === content(fact) ? undefined : fact;
}

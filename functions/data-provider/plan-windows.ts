import type { WindowFact } from '#kernel/facts/facts.ts';
import { must } from '#kernel/core/assert.ts';
import { seqGaps } from './seq-gaps.ts';
import type { SessionState } from './session-state.ts';

/** Why a window may close now; undefined while it must wait. */
function closeReason(
  state: SessionState,
  window: number,
  nowMs: number,
): WindowFact['reason'] | undefined {
  // An emulated batch is its own window: nothing that is still to come belongs to it.
  if (state.isEmulated(window)) return 'covered';
  if (state.complete) return 'endMark';
  const untilUs = (window + 1) * state.rules.windowUs;
  if (untilUs <= state.coveredUntilUs) return 'covered';
  // A session that was given up waits for nothing any more.
  if (state.session !== undefined) return 'late';
  const newestMs = Math.max(
    ...state.ownSeqs(window).map((seq) => state.receipts.get(seq)?.receivedAtMs ?? 0),
  );
  return nowMs - newestMs >= state.rules.graceMs ? 'grace' : undefined;
}

const equal = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((value, index) => value === b[index]);

/**
 * The windows to close now, ascending, each as the fact to write.
 *
 * `candidates` are windows whose set of batches may have changed. A window that is closed already is
 * closed again, one revision up, only when its set of batches differs. What a consumer computes from
 * the fact depends on that set alone; `reason`, `gaps` and `closedBy` tell how it came about.
 */
export function planWindows(
  state: SessionState,
  candidates: Iterable<number>,
  nowMs: number,
  closedBy: string,
): WindowFact[] {
  const planned: WindowFact[] = [];
  for (const window of [...new Set(candidates)].toSorted((a, b) => a - b)) {
    const ownSeqs = state.ownSeqs(window);
    if (ownSeqs.length === 0) continue;
    const known = state.windows.get(window);
    const seqs = state.neededSeqs(window);
    if (known !== undefined && equal(known.seqs, seqs)) continue;
    const reason = known === undefined ? closeReason(state, window, nowMs) : 'late';
    if (reason === undefined) continue;
    const last = must(ownSeqs.at(-1), 'a window has an own batch');
    const receipt = must(state.receipts.get(last), 'an own batch has a receipt');
    const emulated = state.isEmulated(window);
    const isGapless = emulated || last <= state.contiguousThrough;
    planned.push({
      vehicle: receipt.vehicle,
      session: receipt.session,
      window,
      revision: (known?.revision ?? 0) + 1,
      campaign: receipt.campaign,
      campaignVersion: receipt.campaignVersion,
      fromUs: emulated ? receipt.fromUs : window * state.rules.windowUs,
      untilUs: emulated ? receipt.untilUs : (window + 1) * state.rules.windowUs,
      seqs,
      ownSeqs,
      gaps: isGapless ? [] : seqGaps((seq) => state.receipts.has(seq), last),
      reason,
      ...(emulated ? { emulated: true } : {}),
      closedBy,
    });
  }
  return planned;
}

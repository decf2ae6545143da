import type { Batch } from '#kernel/batch/batch.ts';
import { frameCount } from '#kernel/batch/batch.ts';
import type { BatchFact, BatchFlag, ReceiptFact } from '#kernel/facts/facts.ts';

const YEAR_2000_US = Date.UTC(2000, 0, 1) * 1_000;
const DAY_US = 86_400_000_000;

/**
 * A batch's index card: a pure function of the stored fact, so that every repeat makes the same
 * one.
 */
export function receiptOf(fact: BatchFact, batch: Batch): ReceiptFact {
  const frames = frameCount(batch);
  const unsortedFrames = countUnsorted(batch);
  const { firstUs, lastUs } = timeRange(batch);
  return {
    vehicle: fact.vehicle,
    session: fact.session,
    seq: fact.seq,
    campaign: batch.campaign,
    campaignVersion: batch.campaignVersion,
    fromUs: batch.fromUs,
    untilUs: batch.untilUs,
    firstUs,
    lastUs,
    frames,
    unsortedFrames,
    seen: batch.counts.seen,
    matched: batch.counts.matched,
    recordedByVehicle: batch.counts.recorded,
    dropped: batch.counts.dropped,
    clock: batch.clock,
    end: batch.end,
    ...(batch.emulated === true ? { emulated: true } : {}),
    flags: flagsOf(batch, frames, unsortedFrames, fact.receivedAtMs),
    sha256: fact.sha256,
    bodyBytes: fact.body.length,
    receivedAtMs: fact.receivedAtMs,
  };
}

/** What is odd about a batch and no reason to refuse it. */
function flagsOf(
  batch: Batch,
  frames: number,
  unsortedFrames: number,
  receivedAtMs: number,
): BatchFlag[] {
  const flags: BatchFlag[] = [];
  if (batch.clock.wallUs < YEAR_2000_US) flags.push('clock1970');
  if (batch.clock.wallUs > receivedAtMs * 1_000 + DAY_US) flags.push('clockFuture');
  if (batch.counts.recorded !== frames) flags.push('countMismatch');
  if (unsortedFrames > 0) flags.push('framesUnsorted');
  return flags;
}

/** Frames that are earlier than the one before them in their group. */
function countUnsorted(batch: Batch): number {
  let unsorted = 0;
  for (const { timeUs } of batch.groups) {
    let before = -1;
    for (const time of timeUs) {
      if (time < before) unsorted++;
      before = time;
    }
  }
  return unsorted;
}

function timeRange(batch: Batch): Pick<ReceiptFact, 'firstUs' | 'lastUs'> {
  let firstUs: number | null = null;
  let lastUs: number | null = null;
  for (const { timeUs } of batch.groups) {
    for (const time of timeUs) {
      if (firstUs === null || time < firstUs) firstUs = time;
      if (lastUs === null || time > lastUs) lastUs = time;
    }
  }
  return { firstUs, lastUs };
}

import type { SeqRange } from '#eventing/contracts/catalog.ts';
import type { SessionFact } from '#kernel/facts/facts.ts';

/** Numbers in ascending order as ranges: 0 1 2 5 is 0 to 2, and 5. */
export function seqRanges(seqs: Iterable<number>): SeqRange[] {
  const ranges: { firstSeq: number; lastSeq: number }[] = [];
  for (const seq of seqs) {
    const open = ranges.at(-1);
    if (open !== undefined && seq === open.lastSeq + 1) open.lastSeq = seq;
    else ranges.push({ firstSeq: seq, lastSeq: seq });
  }
  return ranges;
}

/** The batches of a closing: what lies between its gaps. 0 to 5 without 2 to 3 is 0 to 1, and 4 to 5. */
export function closedRanges({ lastSeq, gaps }: Pick<SessionFact, 'lastSeq' | 'gaps'>): SeqRange[] {
  const ranges: SeqRange[] = [];
  let firstSeq = 0;
  for (const gap of gaps) {
    if (gap.firstSeq > firstSeq) ranges.push({ firstSeq, lastSeq: gap.firstSeq - 1 });
    firstSeq = gap.lastSeq + 1;
  }
  if (firstSeq <= lastSeq) ranges.push({ firstSeq, lastSeq });
  return ranges;
}

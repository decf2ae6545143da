import type { SeqGap } from '#kernel/facts/facts.ts';

/** The runs of numbers in [0, throughSeq] that are not there. With {0, 1, 4} and 5: 2 to 3, and 5. */
export function seqGaps(has: (seq: number) => boolean, throughSeq: number): SeqGap[] {
  const gaps: SeqGap[] = [];
  let firstSeq: number | undefined;
  for (let seq = 0; seq <= throughSeq; seq++) {
    if (!has(seq)) {
      firstSeq ??= seq;
    } else if (firstSeq !== undefined) {
      gaps.push({ firstSeq, lastSeq: seq - 1 });
      firstSeq = undefined;
    }
  }
  if (firstSeq !== undefined) gaps.push({ firstSeq, lastSeq: throughSeq });
  return gaps;
}

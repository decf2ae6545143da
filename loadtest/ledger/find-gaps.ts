import type { GapEntry } from './account.ts';
import { sessionKey } from './fact-index.ts';
import type { FactIndex } from './fact-index.ts';

/**
 * Sequence numbers between a session's first possible (0) and its last stored one that are not in the
 * store, as runs; planned and unplanned ones apart. The pipeline's own account of a closed session
 * must name the same ones.
 */
export function findGaps(
  index: FactIndex,
  planned: ReadonlySet<string>,
): { readonly gaps: readonly GapEntry[]; readonly problems: readonly string[] } {
  const lastSeqs = new Map<string, { vehicle: string; session: string; lastSeq: number }>();
  for (const { vehicle, session, seq } of index.receipts.values()) {
    const key = sessionKey({ vehicle, session });
    const lastSeq = Math.max(lastSeqs.get(key)?.lastSeq ?? -1, seq);
    lastSeqs.set(key, { vehicle, session, lastSeq });
  }
  const gaps: GapEntry[] = [];
  const problems: string[] = [];
  for (const [key, { vehicle, session, lastSeq }] of lastSeqs) {
    const absent = Array.from({ length: lastSeq + 1 }, (_, seq) => seq).filter(
      (seq) => !index.receipts.has(`${key}/${seq}`),
    );
    gaps.push(...runsOf(absent, (seq) => planned.has(`${key}/${seq}`), vehicle, session));
    const closed = index.sessions.get(key);
    const told = closed?.gaps.reduce((sum, gap) => sum + gap.lastSeq - gap.firstSeq + 1, 0);
    if (told !== undefined && told !== absent.length) {
      problems.push(
        `session ${key}: closed with ${told} missing batches, the store misses ${absent.length}`,
      );
    }
  }
  const unplanned = gaps.filter((gap) => !gap.planned);
  for (const { vehicle, session, firstSeq, lastSeq } of unplanned) {
    problems.push(`session ${vehicle}/${session}: batches ${firstSeq} to ${lastSeq} are missing`);
  }
  return { gaps, problems };
}

/** 3 4 5 9 → 3 to 5, 9 to 9. A run ends where `planned` changes. */
function runsOf(
  seqs: readonly number[],
  isPlanned: (seq: number) => boolean,
  vehicle: string,
  session: string,
): readonly GapEntry[] {
  const runs: GapEntry[] = [];
  for (const seq of seqs) {
    const last = runs.at(-1);
    const planned = isPlanned(seq);
    if (last !== undefined && last.lastSeq === seq - 1 && last.planned === planned) {
      runs[runs.length - 1] = { ...last, lastSeq: seq };
    } else {
      runs.push({ vehicle, session, firstSeq: seq, lastSeq: seq, planned });
    }
  }
  return runs;
}

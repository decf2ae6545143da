import type { BatchRecord } from '#loadtest/vehicles/batch-record.ts';
import type { BatchAccount } from './account.ts';
import { sessionKey } from './fact-index.ts';
import type { FactIndex } from './fact-index.ts';
import type { ReceiptCard } from './ledger-fact.ts';

/**
 * A batch counts as stored when its body is in the store, whatever the vehicle was told; as refused or
 * unresolved when the vehicle says so and the store does not have it. So one that was acknowledged and
 * is not in the store is in none of them, and `sent` exceeds the sum.
 */
export function batchAccount(
  sent: ReadonlyMap<string, BatchRecord>,
  index: FactIndex,
): BatchAccount {
  const lost = [...sent].filter(([key]) => !index.batches.has(key)).map(([, record]) => record);
  const inWindows = new Set(
    [...index.windows.values()].flatMap((window) =>
      window.ownSeqs.map((seq) => `${sessionKey(window)}/${seq}`),
    ),
  );
  return {
    sent: sent.size,
    refused: lost.filter(({ outcome }) => outcome === 'refused').length,
    unresolved: lost.filter(({ outcome }) => outcome === 'unresolved').length,
    stored: index.batches.size,
    inWindows: inWindows.size,
    waiting: [...index.batches].filter((key) => !inWindows.has(key)).length,
    duplicates: [...sent.values()].filter(({ duplicate }) => duplicate).length,
    reordered: countReordered(index.receipts.values()),
  };
}

/** Batches that came in after a later one of their session: 0 2 1 3 has one, 3 0 1 2 has three. */
function countReordered(receipts: Iterable<ReceiptCard>): number {
  const sessions = new Map<string, ReceiptCard[]>();
  for (const receipt of receipts) {
    const session = sessions.get(sessionKey(receipt));
    if (session === undefined) sessions.set(sessionKey(receipt), [receipt]);
    else session.push(receipt);
  }
  let reordered = 0;
  for (const session of sessions.values()) {
    // Two of one millisecond count as in order.
    session.sort((a, b) => a.receivedAtMs - b.receivedAtMs || a.seq - b.seq);
    let highest = -1;
    for (const { seq } of session) {
      if (seq < highest) reordered += 1;
      highest = Math.max(highest, seq);
    }
  }
  return reordered;
}

import type { FramesAccount } from './account.ts';
import { windowKey } from './fact-index.ts';
import type { FactIndex } from './fact-index.ts';
import type { ResultCard } from './ledger-fact.ts';
import { isComputed } from './window-account.ts';

/**
 * Frames: recorded ones counted from the stored bodies, what became of them from the results of the
 * newest revisions, unprocessed ones from the bodies again (those in windows without a result, or
 * with one that was not computed because a demand stood for the work).
 */
export function frameAccount(index: FactIndex): FramesAccount {
  const results = [...index.results.values()].filter((result) => {
    const newest = index.windows.get(windowKey(result));
    return newest === undefined || newest.revision === result.revision;
  });
  const total = (count: (result: ResultCard) => number): number =>
    results.reduce((sum, result) => sum + count(result), 0);
  let recorded = 0;
  let unprocessed = 0;
  let droppedByVehicle = 0;
  for (const receipt of index.receipts.values()) {
    recorded += receipt.frames;
    droppedByVehicle += Object.values(receipt.dropped).reduce((sum, count) => sum + count, 0);
    for (const [window, frames] of receipt.framesByWindow) {
      if (!isComputed(index, windowKey({ ...receipt, window }))) unprocessed += frames;
    }
  }
  return {
    recorded,
    decoded: total(({ decoded }) => decoded),
    unknownId: total(({ unknownId }) => unknownId),
    unknownSelector: total(({ unknownSelector }) => unknownSelector),
    noData: total(({ noData }) => noData),
    truncated: total(({ truncated }) => truncated),
    unprocessed,
    droppedByVehicle,
  };
}

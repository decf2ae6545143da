import { expect, test } from 'vitest';
import type { ReceiptFact } from '#kernel/facts/facts.ts';
import { seqGaps } from './seq-gaps.ts';
import { SessionState } from './session-state.ts';
import { receipt } from './testing/receipts.ts';

const rules = { windowUs: 1_000_000, maxHoldUs: 500_000, graceMs: 30_000, abandonAfterMs: 600_000 };

const withReceipts = (...receipts: ReceiptFact[]): SessionState => {
  const state = new SessionState(rules);
  for (const one of receipts) state.addReceipt(one);
  return state;
};

test('neededSeqs reads back into the batch before when it ends inside the hold time', () => {
  // Window 1 starts at 1.0 s and reads back to 0.5 s: batch 0 ends at 1.0 s, so it is needed.
  const state = withReceipts(receipt(0), receipt(1));
  expect(state.neededSeqs(0)).toEqual([0]);
  expect(state.neededSeqs(1)).toEqual([0, 1]);
  expect(state.ownSeqs(1)).toEqual([1]);
});

test('neededSeqs leaves out a batch that ends exactly where the hold time begins', () => {
  // Batch 0 ends at 0.5 s = 1.0 s - 0.5 s: its last frame is older than the hold time.
  const short = { ...receipt(0), untilUs: 500_000 };
  const next = { ...receipt(1), fromUs: 500_000 };
  const state = withReceipts(short, next, receipt(2));
  expect(state.neededSeqs(1)).toEqual([1]);
});

test('addReceipt returns the windows that read back into a late batch', () => {
  const state = withReceipts(receipt(0), receipt(2));
  expect(state.addReceipt(receipt(1))).toEqual([1, 2]);
});

test('addReceipt of a batch over several windows puts it into each', () => {
  const long = { ...receipt(0), untilUs: 3_000_000 };
  expect(withReceipts().addReceipt(long)).toEqual([0, 1, 2]);
  expect(withReceipts(long).ownSeqs(2)).toEqual([0]);
});

test('contiguousThrough stops before a missing number and goes on when it comes', () => {
  const state = withReceipts(receipt(0), receipt(1), receipt(3));
  expect(state.contiguousThrough).toBe(1);
  expect(state.coveredUntilUs).toBe(2_000_000);
  state.addReceipt(receipt(2));
  expect(state.contiguousThrough).toBe(3);
  expect(state.coveredUntilUs).toBe(4_000_000);
});

test('addReceipt of a known number changes nothing', () => {
  const state = withReceipts(receipt(0));
  expect(state.addReceipt(receipt(0))).toEqual([]);
  expect(state.receipts.size).toBe(1);
});

test('seqGaps names the runs that are missing, the last one included', () => {
  const has = new Set([0, 1, 4]);
  expect(seqGaps((seq) => has.has(seq), 6)).toEqual([
    { firstSeq: 2, lastSeq: 3 },
    { firstSeq: 5, lastSeq: 6 },
  ]);
  expect(seqGaps((seq) => has.has(seq), 1)).toEqual([]);
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { closedRanges, seqRanges } from './seq-ranges.ts';

const range = (firstSeq: number, lastSeq: number) => ({ firstSeq, lastSeq });

test.each([
  [[], []],
  [[3], [range(3, 3)]],
  [
    [0, 1, 2, 5],
    [range(0, 2), range(5, 5)],
  ],
])('seqRanges of %j', (seqs, ranges) => {
  expect(seqRanges(seqs)).toEqual(ranges);
});

test.each([
  ['no gap', { lastSeq: 4, gaps: [] }, [range(0, 4)]],
  ['a gap inside', { lastSeq: 5, gaps: [range(2, 3)] }, [range(0, 1), range(4, 5)]],
  ['the first missing', { lastSeq: 5, gaps: [range(0, 1)] }, [range(2, 5)]],
  ['the last missing', { lastSeq: 5, gaps: [range(4, 5)] }, [range(0, 3)]],
])('closedRanges with %s', (_, closing, ranges) => {
  expect(closedRanges(closing)).toEqual(ranges);
});

test('closedRanges + the gaps between any batches gives the ranges of those batches', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(40), { minLength: 1 }), (numbers) => {
      const seqs = numbers.toSorted((a, b) => a - b);
      const lastSeq = seqs.at(-1) ?? 0;
      const all = Array.from({ length: lastSeq + 1 }, (_, seq) => seq);
      const gaps = seqRanges(all.filter((seq) => !seqs.includes(seq)));
      expect(closedRanges({ lastSeq, gaps })).toEqual(seqRanges(seqs));
    }),
  );
});

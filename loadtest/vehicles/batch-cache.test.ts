import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addBatch, EMPTIED_BYTES, EMPTY_CACHE, markTried, removeOldest } from './batch-cache.ts';
import type { BatchCache, WhenFull } from './batch-cache.ts';

const filled = (sizes: readonly number[], whenFull: WhenFull, maxBytes: number): BatchCache =>
  sizes.reduce(
    (cache, bytes, seq) => addBatch(cache, seq, bytes, { maxBytes, whenFull }).cache,
    EMPTY_CACHE,
  );

const emptied = (cache: BatchCache): readonly number[] =>
  cache.batches.filter((batch) => batch.emptied).map(({ seq }) => seq);

test('addBatch that fits to the byte: nothing is lost', () => {
  const full = addBatch(filled([1_000], 'dropOldest', 3_000), 1, 2_000, {
    maxBytes: 3_000,
    whenFull: 'dropOldest',
  });
  expect(full).toMatchObject({ emptied: [], stopRecording: false });
  expect(full.cache.bytes).toBe(3_000);
});

test('addBatch one byte too large with dropNewest: empties the new one, recording goes on', () => {
  const limits = { maxBytes: 3_000, whenFull: 'dropNewest' } as const;
  const full = addBatch(filled([1_000, 1_001], 'dropNewest', 3_000), 2, 1_000, limits);
  expect(full).toMatchObject({ emptied: [2], stopRecording: false });
  expect(full.cache.bytes).toBe(2_001 + EMPTIED_BYTES);
});

test('addBatch too large with dropOldest: empties from the oldest on until it fits', () => {
  const limits = { maxBytes: 5_000, whenFull: 'dropOldest' } as const;
  const full = addBatch(filled([2_000, 2_000, 900], 'dropOldest', 5_000), 3, 2_500, limits);
  expect(full).toMatchObject({ emptied: [0, 1], stopRecording: false });
  expect(full.cache.bytes).toBe(2 * EMPTIED_BYTES + 900 + 2_500);
});

test('addBatch with dropOldest and the oldest under way: its content stays, the next is emptied', () => {
  const limits = { maxBytes: 5_000, whenFull: 'dropOldest' } as const;
  const tried = markTried(filled([2_000, 2_000], 'dropOldest', 5_000));
  expect(addBatch(tried, 2, 2_000, limits).emptied).toEqual([1]);
});

test('addBatch larger than the whole cache with dropOldest: itself is emptied last', () => {
  const limits = { maxBytes: 3_000, whenFull: 'dropOldest' } as const;
  const full = addBatch(filled([1_000], 'dropOldest', 3_000), 1, 10_000, limits);
  expect(full.emptied).toEqual([0, 1]);
});

test('addBatch too large with stopRecording: empties the new one and stops', () => {
  const limits = { maxBytes: 3_000, whenFull: 'stopRecording' } as const;
  const full = addBatch(filled([2_000], 'stopRecording', 3_000), 1, 2_000, limits);
  expect(full).toMatchObject({ emptied: [1], stopRecording: true });
});

test('addBatch when maxBytes is full of accounts: stops whatever the rule', () => {
  const limits = { maxBytes: EMPTIED_BYTES, whenFull: 'dropNewest' } as const;
  const one = addBatch(EMPTY_CACHE, 0, 10_000, limits);
  expect(one).toMatchObject({ emptied: [0], stopRecording: false });
  expect(addBatch(one.cache, 1, 10_000, limits)).toMatchObject({
    emptied: [1],
    stopRecording: true,
  });
});

test('addBatch in any sequence: bounded, ordered, tried batches untouched', () => {
  const rules = fc.constantFrom<WhenFull>('stopRecording', 'dropOldest', 'dropNewest');
  const steps = fc.array(fc.oneof(fc.integer({ min: 1, max: 3_000 }), fc.constant('remove')), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(rules, steps, (whenFull, sizes) => {
      const limits = { maxBytes: 5_000, whenFull };
      let cache = EMPTY_CACHE;
      let seq = 0;
      for (const size of sizes) {
        if (typeof size === 'string') {
          cache = removeOldest(cache);
          continue;
        }
        cache = markTried(cache);
        const first = cache.batches[0];
        const added = addBatch(cache, seq++, size, limits);
        ({ cache } = added);
        expect(cache.bytes).toBeLessThanOrEqual(limits.maxBytes + EMPTIED_BYTES);
        if (first !== undefined) expect(cache.batches[0]).toEqual(first);
        expect(emptied(cache)).toEqual(expect.arrayContaining([...added.emptied]));
        if (added.stopRecording) break;
      }
      const seqs = cache.batches.map((batch) => batch.seq);
      expect(seqs).toEqual([...seqs].sort((a, b) => a - b));
    }),
  );
});

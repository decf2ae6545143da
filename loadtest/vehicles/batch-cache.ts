/**
 * The vehicle's bounded store of batches that are not acknowledged yet, as a value. Oldest first.
 *
 * A batch that finds no room is not forgotten: it is *emptied*. Its frames go, its sequence number and
 * its account (seen, matched, dropped as `bufferFull`) stay and are uploaded, so that sequence numbers
 * have no holes and the loss is known to the frame.
 */
export interface CachedBatch {
  readonly seq: number;
  readonly bytes: number;
  readonly emptied: boolean;
  /** Upload attempts so far. Its content must not change after the first: the server may have it. */
  readonly attempts: number;
}

export interface BatchCache {
  readonly batches: readonly CachedBatch[];
  readonly bytes: number;
}

export type WhenFull = 'stopRecording' | 'dropOldest' | 'dropNewest';

export interface CacheLimits {
  readonly maxBytes: number;
  readonly whenFull: WhenFull;
}

export interface CacheInsertion {
  readonly cache: BatchCache;
  /** Sequence numbers of the batches that lost their frames, in the order in which they did. */
  readonly emptied: readonly number[];
  readonly stopRecording: boolean;
}

/** What an emptied batch is counted as: its encoding is smaller. */
export const EMPTIED_BYTES = 512;

export const EMPTY_CACHE: BatchCache = { batches: [], bytes: 0 };

const sizeOf = (batches: readonly CachedBatch[]): number =>
  batches.reduce((sum, batch) => sum + batch.bytes, 0);

const cacheOf = (batches: readonly CachedBatch[]): BatchCache => ({
  batches,
  bytes: sizeOf(batches),
});

const emptiedBatch = (batch: CachedBatch): CachedBatch => ({
  ...batch,
  bytes: Math.min(batch.bytes, EMPTIED_BYTES),
  emptied: true,
});

/**
 * Adds the newest batch. Where it does not fit
 * - dropNewest empties it;
 * - dropOldest empties the oldest batches that were never tried until it fits, and it last of all;
 * - stopRecording empties it and says that recording ends with it.
 *
 * An emptied batch is kept even where maxBytes has no room for its account: when maxBytes is full of
 * accounts alone, recording stops whatever the rule, so the excess is at most one EMPTIED_BYTES.
 */
export function addBatch(
  cache: BatchCache,
  seq: number,
  bytes: number,
  limits: CacheLimits,
): CacheInsertion {
  const newest: CachedBatch = { seq, bytes, emptied: false, attempts: 0 };
  const fits = (batches: readonly CachedBatch[]): boolean => sizeOf(batches) <= limits.maxBytes;
  let batches = [...cache.batches, newest];
  const emptied: number[] = [];
  if (limits.whenFull === 'dropOldest') {
    while (!fits(batches)) {
      const oldest = batches.find((batch) => !batch.emptied && batch.attempts === 0);
      if (oldest === undefined) break;
      batches = batches.map((batch) => (batch === oldest ? emptiedBatch(batch) : batch));
      emptied.push(oldest.seq);
    }
  } else if (!fits(batches)) {
    batches = [...cache.batches, emptiedBatch(newest)];
    emptied.push(seq);
  }
  const stopRecording =
    !fits(batches) || (limits.whenFull === 'stopRecording' && emptied.length > 0);
  return { cache: cacheOf(batches), emptied, stopRecording };
}

/** Notes that the oldest batch is being uploaded. */
export const markTried = (cache: BatchCache): BatchCache =>
  cacheOf(
    cache.batches.map((batch, index) =>
      index === 0 ? { ...batch, attempts: batch.attempts + 1 } : batch,
    ),
  );

/** Removes the oldest batch: it was acknowledged, refused or given up. */
export const removeOldest = (cache: BatchCache): BatchCache => cacheOf(cache.batches.slice(1));

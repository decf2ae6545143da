/**
 * Averages over a sliding window of one-second buckets, as plain values.
 *
 * Source: knative/serving pkg/autoscaler/aggregation/bucketing.go (98e5ef9), TimedFloat64Buckets. Its
 * peculiarities are kept: reports of one second add up; a fresh window averages only over the seconds it
 * has seen; missing recent seconds shrink the divisor, they are not read as zeros; gaps inside count as
 * zeros.
 */
export interface TimeWindow {
  readonly windowMs: number;
  readonly granularityMs: number;
  /** Value of the bucket with index `time / granularity` modulo the length. */
  readonly buckets: readonly number[];
  /** Begin of the first and the last bucket written; null: nothing was. */
  readonly firstMs: number | null;
  readonly lastMs: number | null;
  /** Of all buckets. */
  readonly total: number;
}

export const BUCKET_MS = 1_000;

/** 60 s by 1 s: 60 buckets; 3.5 s by 1 s: 4. */
export function emptyWindow(windowMs: number, granularityMs: number = BUCKET_MS): TimeWindow {
  const count = Math.ceil(windowMs / granularityMs);
  return {
    windowMs,
    granularityMs,
    buckets: Array.from({ length: count }, () => 0),
    firstMs: null,
    lastMs: null,
    total: 0,
  };
}

const floor = (ms: number, granularityMs: number): number =>
  Math.floor(ms / granularityMs) * granularityMs;

const bucketIndex = (ms: number, window: TimeWindow): number =>
  Math.floor(ms / window.granularityMs);

const wrapped = (index: number, count: number): number => ((index % count) + count) % count;

/** Adds a value at a moment. One that is a window's length older than the newest is dropped. */
export function recordIn(window: TimeWindow, nowMs: number, value: number): TimeWindow {
  const { windowMs, granularityMs, lastMs } = window;
  const atMs = floor(nowMs, granularityMs);
  const buckets = [...window.buckets];
  let { firstMs, total } = window;
  if (atMs !== lastMs) {
    if (lastMs !== null && atMs + windowMs <= lastMs) return window;
    if (firstMs === null || firstMs > atMs) firstMs = atMs;
    if (lastMs === null || atMs - lastMs >= windowMs) {
      firstMs = atMs;
      buckets.fill(0);
      total = 0;
    } else if (atMs > lastMs) {
      for (
        let index = bucketIndex(lastMs, window) + 1;
        index <= bucketIndex(atMs, window);
        index++
      ) {
        const place = wrapped(index, buckets.length);
        total -= buckets[place] ?? 0;
        buckets[place] = 0;
      }
    }
  }
  const place = wrapped(bucketIndex(nowMs, window), buckets.length);
  buckets[place] = (buckets[place] ?? 0) + value;
  return {
    ...window,
    buckets,
    firstMs,
    lastMs: lastMs === null ? atMs : Math.max(lastMs, atMs),
    total: total + value,
  };
}

/**
 * Nothing was written for *more* than the window's length, whereas the average is 0 from the very length
 * on: at exactly 60 s after the last write a window of 60 s is not empty, and its average is 0.
 */
export const isEmptyAt = (
  { lastMs, granularityMs, windowMs }: TimeWindow,
  nowMs: number,
): boolean => lastMs === null || floor(nowMs, granularityMs) - lastMs > windowMs;

/**
 * Upstream rounds averages to six digits: what adding and taking off leaves behind is no load. Rounding
 * −3.6e−17 gives −0, which is made 0.
 */
const round6 = (value: number): number => Math.round(value * 1e6) / 1e6 + 0;

/**
 * The average bucket. Values 5, 3, 4 in the first three seconds: (5 + 3 + 4) / 3 = 4, whatever the
 * window's length.
 */
export function averageAt(window: TimeWindow, nowMs: number): number {
  const { buckets, firstMs, lastMs, granularityMs, windowMs, total } = window;
  if (firstMs === null || lastMs === null) return 0;
  const atMs = floor(nowMs, granularityMs);
  const seen = (lastMs - firstMs) / granularityMs + 1;
  if (atMs <= lastMs) return round6(total / Math.min(seen, buckets.length));
  if (atMs - lastMs >= windowMs) return 0;
  let rest = total;
  const last = bucketIndex(lastMs, window);
  const now = bucketIndex(atMs, window);
  for (let index = last + 1; index <= now; index++) {
    rest -= buckets[wrapped(index, buckets.length)] ?? 0;
  }
  return round6(rest / Math.min(seen, buckets.length - (now - last)));
}

/**
 * Another length: the newest buckets that fit are kept. The first write is then taken to be as old as
 * the old window was long, as upstream does.
 */
export function resizedTo(window: TimeWindow, windowMs: number, nowMs: number): TimeWindow {
  if (windowMs === window.windowMs) return window;
  const { granularityMs, lastMs } = window;
  const fresh = emptyWindow(windowMs, granularityMs);
  if (lastMs === null || isEmptyAt(window, nowMs)) return { ...fresh, lastMs };
  const buckets = [...fresh.buckets];
  const old = window.buckets.length;
  let total = 0;
  const last = bucketIndex(lastMs, window);
  for (let back = 0; back < Math.min(buckets.length, old); back++) {
    const value = window.buckets[wrapped(last - back, old)] ?? 0;
    buckets[wrapped(last - back, buckets.length)] = value;
    total += value;
  }
  return { ...fresh, buckets, total, lastMs, firstMs: lastMs - (old - 1) * granularityMs };
}

/** The least weight of the newest bucket: very long windows are not to become plain averages. */
const MIN_COEFFICIENT = 0.2;
/** So much of all weight lies within the window. */
const WEIGHT_WITHIN = 0.9999;

/** Weight of the newest bucket: 0.7846 for 6 buckets, 0.2057 for 40, 0.2 from 42 up. */
export const smoothingCoefficient = (buckets: number): number =>
  Math.max(1 - (1 - WEIGHT_WITHIN) ** (1 / buckets), MIN_COEFFICIENT);

/**
 * The exponentially weighted average: newest first with weight c, the one before c(1−c), … 10, 10, 5, 5
 * (newest last) with c = 0.6: 5·0.6 + 5·0.24 + 10·0.096 + 10·0.0384 = 5.544.
 */
export function weightedAverageAt(window: TimeWindow, nowMs: number): number {
  const { buckets, lastMs, granularityMs } = window;
  if (lastMs === null || isEmptyAt(window, nowMs)) return 0;
  const coefficient = smoothingCoefficient(buckets.length);
  const missing = Math.max(0, (floor(nowMs, granularityMs) - lastMs) / granularityMs);
  let weight = coefficient * (1 - coefficient) ** missing;
  let average = 0;
  const last = bucketIndex(lastMs, window);
  for (let back = 0; back < buckets.length - missing; back++) {
    average += (buckets[wrapped(last - back, buckets.length)] ?? 0) * weight;
    weight *= 1 - coefficient;
  }
  return average;
}

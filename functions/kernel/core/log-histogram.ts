/** Buckets a doubling: a value is known to 1/32, or 3 %. */
const PER_DOUBLING = 32;
/** What is smaller in magnitude counts as zero: a thousandth of a µs where values are ms. */
const SMALLEST = 1e-6;

/** A histogram as a document: sparse, `[bucket, count]` ascending. */
export interface HistogramDocument {
  readonly count: number;
  readonly sum: number;
  readonly min: number | null;
  readonly max: number | null;
  readonly zero: number;
  readonly positive: readonly (readonly [bucket: number, count: number])[];
  readonly negative: readonly (readonly [bucket: number, count: number])[];
}

/**
 * Counts values of any magnitude and sign in a few hundred buckets that are equally wide within a
 * doubling. Two of them add up without loss, in any order, so that each replica keeps its own.
 *
 * Source: G. Tene's HdrHistogram, with buckets by binary exponent. Worked: 1 is bucket 0, 1.5 bucket
 * 16, 2 bucket 32; 0.75 is bucket -16.
 */
export class LogHistogram {
  #count = 0;
  #sum = 0;
  #min = Infinity;
  #max = -Infinity;
  #zero = 0;
  readonly #positive = new Map<number, number>();
  readonly #negative = new Map<number, number>();

  get count(): number {
    return this.#count;
  }

  /** Takes a value in; one that is not finite is left out, since it would spoil the sum. */
  add(value: number): void {
    if (!Number.isFinite(value)) return;
    this.#note(1, value, value, value);
    const magnitude = Math.abs(value);
    if (magnitude < SMALLEST) this.#zero += 1;
    else addTo(value > 0 ? this.#positive : this.#negative, bucketOf(magnitude), 1);
  }

  /** Adds another one's values. */
  merge({ count, sum, min, max, zero, positive, negative }: HistogramDocument): void {
    this.#note(count, sum, min ?? Infinity, max ?? -Infinity);
    this.#zero += zero;
    for (const [bucket, own] of positive) addTo(this.#positive, bucket, own);
    for (const [bucket, own] of negative) addTo(this.#negative, bucket, own);
  }

  #note(count: number, sum: number, min: number, max: number): void {
    this.#count += count;
    this.#sum += sum;
    this.#min = Math.min(this.#min, min);
    this.#max = Math.max(this.#max, max);
  }

  /** The nearest-rank quantile to the middle of its bucket, within what was seen; null without values. */
  quantile(p: number): number | null {
    if (this.#count === 0) return null;
    let left = Math.max(1, Math.ceil(p * this.#count));
    const within = (value: number): number => Math.min(this.#max, Math.max(this.#min, value));
    for (const [bucket, count] of ascending(this.#negative).toReversed()) {
      left -= count;
      if (left <= 0) return within(-middleOf(bucket));
    }
    left -= this.#zero;
    if (left <= 0) return within(0);
    for (const [bucket, count] of ascending(this.#positive)) {
      left -= count;
      if (left <= 0) return within(middleOf(bucket));
    }
    return this.#max;
  }

  toDocument(): HistogramDocument {
    const isEmpty = this.#count === 0;
    return {
      count: this.#count,
      sum: this.#sum,
      min: isEmpty ? null : this.#min,
      max: isEmpty ? null : this.#max,
      zero: this.#zero,
      positive: ascending(this.#positive),
      negative: ascending(this.#negative),
    };
  }
}

function bucketOf(magnitude: number): number {
  const doubling = Math.floor(Math.log2(magnitude));
  const within = Math.floor((magnitude / 2 ** doubling - 1) * PER_DOUBLING);
  // log2 of a value just below a power of two rounds up to it; the value belongs below.
  return doubling * PER_DOUBLING + Math.max(-1, Math.min(PER_DOUBLING, within));
}

function middleOf(bucket: number): number {
  const doubling = Math.floor(bucket / PER_DOUBLING);
  const within = bucket - doubling * PER_DOUBLING;
  return 2 ** doubling * (1 + (within + 0.5) / PER_DOUBLING);
}

function addTo(counts: Map<number, number>, bucket: number, count: number): void {
  counts.set(bucket, (counts.get(bucket) ?? 0) + count);
}

const ascending = (counts: ReadonlyMap<number, number>): readonly [number, number][] =>
  [...counts].sort(([a], [b]) => a - b);

import { SECONDS_BOUNDARIES, type MetricRow } from './metric-names.ts';

/** Few and from short lists: never a vehicle or an event. */
export type MetricAttributes = Readonly<Record<string, string | number>>;

/** One series as it stands. */
export type SeriesValue =
  | { readonly kind: 'number'; readonly value: number }
  | {
      readonly kind: 'histogram';
      readonly boundaries: readonly number[];
      /** One more than boundaries; a value on a boundary belongs below it. */
      readonly counts: readonly number[];
      readonly sum: number;
      readonly count: number;
    };

export interface SeriesPoint {
  readonly attributes: MetricAttributes;
  readonly value: SeriesValue;
}

export interface MetricFamily {
  readonly metric: MetricRow;
  readonly points: readonly SeriesPoint[];
}

/** Called at a collection: values that somebody else keeps. */
export type Observe = (note: (value: number, attributes?: MetricAttributes) => void) => void;

/** Beyond, values go into one series that says so: a mistake in a label must not fill the memory. */
export const MAX_SERIES = 200;

interface HistogramSeries {
  readonly attributes: MetricAttributes;
  readonly counts: number[];
  sum: number;
  count: number;
}

interface NumberSeries {
  readonly attributes: MetricAttributes;
  value: number;
}

/**
 * Counts of a process. The SDK's own instruments would cost a cold start four times what all of this
 * does; here a value is an addition, and the SDK comes in with the first who asks (docs/metrics-endpoint.md).
 */
export class MeterBook {
  readonly #numbers = new Map<MetricRow, Map<string, NumberSeries>>();
  readonly #histograms = new Map<MetricRow, Map<string, HistogramSeries>>();
  readonly #boundaries = new Map<MetricRow, readonly number[]>();
  readonly #observed = new Map<MetricRow, Observe[]>();

  /** Counters and up-down counters. */
  add(metric: MetricRow, value: number, attributes: MetricAttributes = {}): void {
    const series = seriesOf(this.#numbers, metric, attributes, (own) => ({
      attributes: own,
      value: 0,
    }));
    series.value += value;
  }

  /** Histograms; `boundaries` count with the metric's first value. */
  record(
    metric: MetricRow,
    value: number,
    attributes: MetricAttributes = {},
    boundaries: readonly number[] = SECONDS_BOUNDARIES,
  ): void {
    if (!this.#boundaries.has(metric)) this.#boundaries.set(metric, boundaries);
    const own = this.#boundaries.get(metric) ?? boundaries;
    const series = seriesOf(this.#histograms, metric, attributes, (labels) => ({
      attributes: labels,
      counts: Array.from({ length: own.length + 1 }, () => 0),
      sum: 0,
      count: 0,
    }));
    let bucket = own.length;
    for (let at = 0; at < own.length; at++) {
      if (value <= (own[at] as number)) {
        bucket = at;
        break;
      }
    }
    series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
    series.sum += value;
    series.count += 1;
  }

  /** A metric whose values are asked for when somebody collects. */
  observe(metric: MetricRow, observe: Observe): void {
    const own = this.#observed.get(metric);
    if (own === undefined) this.#observed.set(metric, [observe]);
    else own.push(observe);
  }

  /** Everything as it stands, by name. */
  families(): readonly MetricFamily[] {
    const families: MetricFamily[] = [];
    for (const [metric, series] of this.#numbers) {
      const points = [...series.values()].map(({ attributes, value }) => ({
        attributes,
        value: { kind: 'number', value } as const,
      }));
      families.push({ metric, points });
    }
    for (const [metric, series] of this.#histograms) {
      const boundaries = this.#boundaries.get(metric) ?? SECONDS_BOUNDARIES;
      const points = [...series.values()].map(({ attributes, counts, sum, count }) => ({
        attributes,
        value: { kind: 'histogram', boundaries, counts: [...counts], sum, count } as const,
      }));
      families.push({ metric, points });
    }
    for (const [metric, observers] of this.#observed) {
      families.push({ metric, points: observed(observers) });
    }
    return families.sort((a, b) => (a.metric.name < b.metric.name ? -1 : 1));
  }
}

function observed(observers: readonly Observe[]): readonly SeriesPoint[] {
  const points: SeriesPoint[] = [];
  for (const observe of observers) {
    observe((value, attributes = {}) => {
      if (points.length < MAX_SERIES) points.push({ attributes, value: { kind: 'number', value } });
    });
  }
  return points;
}

function seriesOf<Series>(
  table: Map<MetricRow, Map<string, Series>>,
  metric: MetricRow,
  attributes: MetricAttributes,
  make: (attributes: MetricAttributes) => Series,
): Series {
  let all = table.get(metric);
  if (all === undefined) table.set(metric, (all = new Map()));
  const key = keyOf(attributes);
  const known = all.get(key);
  if (known !== undefined) return known;
  const isFull = all.size >= MAX_SERIES;
  const own = isFull ? OVERFLOW : attributes;
  const place = isFull ? OVERFLOW_KEY : key;
  const series = all.get(place) ?? make(own);
  all.set(place, series);
  return series;
}

const OVERFLOW: MetricAttributes = { 'otel.metric.overflow': 'true' };
const OVERFLOW_KEY = 'overflow';

/** Callers write their attributes in one and the same order each time. */
function keyOf(attributes: MetricAttributes): string {
  let key = '';
  for (const name in attributes) key += `${name}\u0001${attributes[name]}\u0002`;
  return key;
}

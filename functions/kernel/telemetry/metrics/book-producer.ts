import { ValueType, type HrTime } from '@opentelemetry/api';
import {
  AggregationTemporality,
  DataPointType,
  type CollectionResult,
  type DataPoint,
  type Histogram,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics';
import { processResource, type ProcessIdentity } from '../process-resource.ts';
import type { MeterBook, MetricFamily } from './meter-book.ts';

export interface BookProducerOptions {
  readonly book: MeterBook;
  /** Whose; its software names the scope as well. */
  readonly identity: ProcessIdentity;
  /** Epoch ms when counting began, and now. */
  readonly startMs: number;
  readonly nowMs: () => number;
}

/** The book in OpenTelemetry's data model, for exporters and serializers of its SDK. */
export function bookProducer(options: BookProducerOptions): MetricProducer {
  const { book, identity, startMs, nowMs } = options;
  const [name = '', version = ''] = identity.software.split('/');
  const resource = processResource(identity);
  return {
    async collect(): Promise<CollectionResult> {
      const times = { startTime: hrTime(startMs), endTime: hrTime(nowMs()) };
      const metrics = book.families().map((family) => metricData(family, times));
      const scopeMetrics = [{ scope: { name, version }, metrics }];
      return { resourceMetrics: { resource, scopeMetrics }, errors: [] };
    },
  };
}

type Times = Pick<DataPoint<number>, 'startTime' | 'endTime'>;

function hrTime(epochMs: number): HrTime {
  const seconds = Math.floor(epochMs / 1_000);
  return [seconds, Math.round((epochMs - seconds * 1_000) * 1e6)];
}

function metricData({ metric, points }: MetricFamily, times: Times): MetricData {
  const { name, unit, about, kind } = metric;
  const head = {
    descriptor: { name, unit, description: about, valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  if (kind === 'histogram') {
    const dataPoints = points.flatMap(({ attributes, value }): DataPoint<Histogram>[] => {
      if (value.kind !== 'histogram') return [];
      const { boundaries, counts, sum, count } = value;
      const buckets = { boundaries: [...boundaries], counts: [...counts] };
      return [{ ...times, attributes: { ...attributes }, value: { buckets, sum, count } }];
    });
    return { ...head, dataPointType: DataPointType.HISTOGRAM, dataPoints };
  }
  const dataPoints = points.flatMap(({ attributes, value }): DataPoint<number>[] =>
    value.kind === 'number'
      ? [{ ...times, attributes: { ...attributes }, value: value.value }]
      : [],
  );
  if (kind === 'gauge') return { ...head, dataPointType: DataPointType.GAUGE, dataPoints };
  const isMonotonic = kind === 'counter';
  return { ...head, dataPointType: DataPointType.SUM, isMonotonic, dataPoints };
}

import { readBytes, readMillicpus } from '#infra/autoscaling/quantity.ts';
import { FieldReader, type FieldsRead } from '#infra/autoscaling/field-reader.ts';
import type { HpaConfig, HpaMetric } from './hpa-config.ts';
import { readBehavior } from './read-behavior.ts';
import { readControllerFlags } from './read-controller-flags.ts';

/** What the replicas of the scaled Deployment request. */
export interface Requests {
  readonly cpuRequestMillis: number | null;
  readonly memoryRequestBytes: number | null;
}

const MAX_REPLICAS = 256;
const MAX_METRICS = 16;
/** What the API takes for an HPA that names no metric. */
const DEFAULT_METRIC: HpaMetric = { kind: 'cpu', utilizationPercent: 80, averageValue: null };

/** Reads a HorizontalPodAutoscaler (autoscaling/v2) given as a plain value; metrics of type Resource. */
export function readHpa(manifest: unknown, requests: Requests): FieldsRead<HpaConfig> {
  const reader = new FieldReader();
  const count = { min: 1, max: MAX_REPLICAS, integer: true };
  const minReplicas = reader.number(manifest, ['spec', 'minReplicas'], { ...count, fallback: 1 });
  const maxReplicas = reader.number(manifest, ['spec', 'maxReplicas'], count);
  if (minReplicas > maxReplicas) {
    const detail = `minReplicas ${minReplicas} is more than maxReplicas ${maxReplicas}`;
    reader.fault(['spec', 'minReplicas'], detail);
  }
  const metrics = readMetrics(reader, manifest, requests);
  return reader.result({
    minReplicas,
    maxReplicas,
    metrics,
    behavior: readBehavior(reader, manifest, ['spec', 'behavior']),
    ...readControllerFlags(reader, manifest, ['metadata', 'annotations']),
    ...requests,
  });
}

function readMetrics(
  reader: FieldReader,
  manifest: unknown,
  requests: Requests,
): readonly HpaMetric[] {
  const found = FieldReader.at(manifest, ['spec', 'metrics']);
  const list = Array.isArray(found) ? found.slice(0, MAX_METRICS) : [];
  if (Array.isArray(found) ? found.length > MAX_METRICS : found !== undefined) {
    reader.fault(['spec', 'metrics'], `metrics must be a list of at most ${MAX_METRICS}`);
  }
  const metrics =
    list.length === 0
      ? [DEFAULT_METRIC]
      : list.map((_, index) => readMetric(reader, manifest, ['spec', 'metrics', String(index)]));
  for (const metric of metrics) {
    if (metric.kind !== 'cpu' && metric.kind !== 'memory') continue;
    const request = metric.kind === 'cpu' ? requests.cpuRequestMillis : requests.memoryRequestBytes;
    if (metric.utilizationPercent === null || request !== null) continue;
    const detail = `a utilisation of ${metric.kind} needs a request of ${metric.kind} on the Deployment`;
    reader.fault(['spec', 'metrics'], detail);
  }
  return metrics;
}

function readMetric(reader: FieldReader, manifest: unknown, at: readonly string[]): HpaMetric {
  reader.oneOf(manifest, [...at, 'type'], ['Resource']);
  const resource = [...at, 'resource'];
  const kind = reader.oneOf(manifest, [...resource, 'name'], ['cpu', 'memory']);
  const target = [...resource, 'target'];
  const type = reader.oneOf(manifest, [...target, 'type'], ['Utilization', 'AverageValue']);
  if (type === 'Utilization') {
    const utilizationPercent = reader.number(manifest, [...target, 'averageUtilization'], {
      min: 1,
      max: 10_000,
      integer: true,
    });
    return { kind, utilizationPercent, averageValue: null };
  }
  const path = [...target, 'averageValue'];
  const found = FieldReader.at(manifest, path);
  const averageValue = kind === 'cpu' ? readMillicpus(found) : readBytes(found);
  const usable = averageValue > 0;
  if (!usable) {
    const example = kind === 'cpu' ? 'CPU such as 250m' : 'memory such as 128Mi';
    reader.fault(path, `averageValue must be a quantity of ${example}`);
  }
  return { kind, utilizationPercent: null, averageValue: usable ? averageValue : 1 };
}

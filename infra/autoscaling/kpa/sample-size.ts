import type { Stat } from '#infra/autoscaling/policy.ts';

/**
 * How many replicas Knative scrapes, and what it makes of the answers. The local cluster scrapes all of
 * them, since its queue-proxies are objects of the same process; these two say what the real autoscaler
 * would have seen.
 */

/** Squared critical value of the normal distribution at 95 % × variance 100 / squared margin of error 5. */
const UNBOUNDED_SAMPLE = (1.96 ** 2 * 100) / 5 ** 2;
/** So few are all asked. */
const ALL_UP_TO = 3;

/**
 * 4 → 4, 10 → 7, 100 → 14, 1000 → 16 (15.37 of an unbounded number, rounded up).
 *
 * Source: knative/serving pkg/autoscaler/metrics/sample_size.go (98e5ef9), Cochran's formula with the
 * correction for a finite population.
 */
export function sampleSize(replicas: number): number {
  if (replicas <= ALL_UP_TO) return Math.max(replicas, 0);
  return Math.ceil((replicas * UNBOUNDED_SAMPLE) / (replicas + UNBOUNDED_SAMPLE - 1));
}

type Figures = Omit<Stat, 'atMs' | 'from'>;

/**
 * The sample's sum, taken for all: two of four replicas with 3 and 5 inside → 8 / 2 × 4 = 16. An empty
 * sample says nothing: undefined, and nothing is recorded.
 *
 * Source: knative/serving pkg/autoscaler/metrics/collector.go (98e5ef9), Stat.add and Stat.average.
 */
export function extrapolate(sample: readonly Figures[], replicas: number): Figures | undefined {
  if (sample.length === 0) return undefined;
  const total = (figure: keyof Figures): number =>
    (sample.reduce((sum, stat) => sum + stat[figure], 0) / sample.length) * replicas;
  return {
    averageConcurrency: total('averageConcurrency'),
    averageProxiedConcurrency: total('averageProxiedConcurrency'),
    requestCount: total('requestCount'),
    proxiedRequestCount: total('proxiedRequestCount'),
  };
}

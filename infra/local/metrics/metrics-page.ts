import type { EventingStats } from '#eventing/dispatch/start-eventing.ts';
import type { ServiceStatus } from '#infra/local/replicas/pool-workload.ts';
import type { Clock } from '#kernel/core/clock.ts';
import { clusterMetricsText } from './cluster-metrics-text.ts';
import type { ClusterMetrics, PathState } from './cluster-metrics.ts';
import { mergeText } from './merge-text.ts';
import { scrapeReplicas } from './scrape-replicas.ts';

export interface MetricsSources {
  readonly services: readonly ServiceStatus[];
  readonly scaling: Readonly<Record<string, { readonly desired: number }>>;
  readonly paths: Iterable<PathState>;
  readonly eventing: { stats(): Promise<EventingStats> };
  readonly spansDropped: number;
}

/** Everybody's metrics together: the cluster's own, and those of every replica that answers. */
export async function metricsPage(
  metrics: ClusterMetrics,
  { services, scaling, paths, eventing, spansDropped }: MetricsSources,
  clock: Clock,
): Promise<string> {
  const desired = Object.fromEntries(
    Object.entries(scaling).map(([name, status]) => [name, status.desired]),
  );
  const stats = await eventing.stats();
  metrics.update({ services, desired, paths: [...paths], eventing: stats, spansDropped });
  const own = await clusterMetricsText(metrics.book, clock);
  return mergeText([own, ...(await scrapeReplicas(services))]);
}

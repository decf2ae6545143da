import { SOFTWARE } from '#kernel/config/software.ts';
import type { Clock } from '#kernel/core/clock.ts';
import type { MeterBook } from '#kernel/telemetry/metrics/meter-book.ts';

/** `service.name` of the cluster's own metrics: one process is gateway, activator and dispatchers. */
const SERVICE = 'local-cluster';

/** The cluster's own metrics as text; loads OpenTelemetry's part the first time. */
export async function clusterMetricsText(book: MeterBook, clock: Clock): Promise<string> {
  const { prometheusText } = await import('#kernel/telemetry/metrics/prometheus-text.ts');
  const { pid } = process;
  const identity = { service: SERVICE, instance: `${SERVICE}-${pid}`, software: SOFTWARE, pid };
  const nowMs = clock.nowMs();
  return prometheusText({ book, identity, startMs: nowMs, nowMs: () => nowMs });
}

import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../system/log.ts';
import type { ProcessIdentity } from '../process-resource.ts';
import type { MeterBook } from './meter-book.ts';

export interface MetricsOptions {
  readonly book: MeterBook;
  readonly identity: ProcessIdentity;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly log: Log;
}

/** A process's metrics while it runs: to be asked for, and pushed where the standard variables say so. */
export interface Metrics {
  /** The text exposition format of Prometheus; loads the SDK the first time. */
  text(): Promise<string>;
  stop(limitMs: number): Promise<void>;
}

/** Variables that say where OTLP goes: without one of them nothing of pushing is loaded. */
const ENDPOINTS = ['OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'] as const;

/** Throws CONFIG_INVALID for an interval that is none. */
export async function openMetrics(options: MetricsOptions): Promise<Metrics> {
  const { book, identity, env, clock, log } = options;
  const producer = { book, identity, startMs: clock.nowMs(), nowMs: () => clock.nowMs() };
  const text = async (): Promise<string> =>
    (await import('./prometheus-text.ts')).prometheusText(producer);
  if (!ENDPOINTS.some((name) => env[name])) return { text, stop: async () => undefined };
  const { exportIntervalMs, metricsUrl, pushMetrics } = await import('./push-metrics.ts');
  const url = metricsUrl(env);
  if (url === undefined) return { text, stop: async () => undefined };
  const push = pushMetrics({ ...producer, url, intervalMs: exportIntervalMs(env), clock, log });
  return { text, stop: (limitMs) => push.stop(limitMs) };
}

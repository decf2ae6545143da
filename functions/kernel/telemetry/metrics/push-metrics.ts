import type { Clock } from '../../core/clock.ts';
import { TachographError } from '../../core/errors.ts';
import type { Log } from '../../system/log.ts';
import { bookProducer, type BookProducerOptions } from './book-producer.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/** Where OTLP takes metrics, by the standard variables; undefined: nothing is pushed. */
export function metricsUrl(env: Variables): string | undefined {
  const isDisabled = env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true';
  const exporter = env['OTEL_METRICS_EXPORTER'] || 'otlp';
  if (isDisabled || !exporter.split(',').some((name) => name.trim() === 'otlp')) return undefined;
  const own = env['OTEL_EXPORTER_OTLP_METRICS_ENDPOINT'];
  if (own) return own;
  const all = env['OTEL_EXPORTER_OTLP_ENDPOINT'];
  return all ? `${all.replace(/\/+$/, '')}/v1/metrics` : undefined;
}

const DEFAULT_INTERVAL_MS = 60_000;

/** OTEL_METRIC_EXPORT_INTERVAL; throws CONFIG_INVALID for what is no time. */
export function exportIntervalMs(env: Variables): number {
  const text = env['OTEL_METRIC_EXPORT_INTERVAL'] ?? '';
  if (text === '') return DEFAULT_INTERVAL_MS;
  const ms = Number(text);
  if (/^\d{1,9}$/.test(text) && ms >= 100) return ms;
  const fields = {
    name: 'OTEL_METRIC_EXPORT_INTERVAL',
    value: text,
    remedy: 'use ms, 100 or more',
  };
  throw new TachographError('CONFIG_INVALID', fields);
}

export interface PushOptions extends BookProducerOptions {
  readonly url: string;
  readonly intervalMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

export interface MetricsPush {
  /** Pushes for the last time, for at most so long. */
  stop(limitMs: number): Promise<void>;
}

/**
 * Pushes the book to a collector at each interval, by OTLP over HTTP in protobuf. Its code is loaded with
 * the first push; a collector that fails is told once, and once when it is back.
 */
export function pushMetrics(options: PushOptions): MetricsPush {
  const { clock, intervalMs, log } = options;
  const stopping = new AbortController();
  let push: Promise<() => Promise<void>> | undefined;
  let isFailing = false;
  const once = async (): Promise<void> => {
    try {
      await (
        await (push ??= loadPush(options))
      )();
      if (isFailing) log.info('metrics can be sent again');
      isFailing = false;
    } catch (error) {
      if (!isFailing) log.warn('metrics cannot be sent', { why: (error as Error).message });
      isFailing = true;
    }
  };
  const loop = async (): Promise<void> => {
    for (;;) {
      try {
        await clock.sleep(intervalMs, stopping.signal);
      } catch {
        return;
      }
      await once();
    }
  };
  const running = loop();
  return {
    async stop(limitMs) {
      stopping.abort();
      const limit = new AbortController();
      const last = running.then(once);
      await Promise.race([last, clock.sleep(limitMs, limit.signal).catch(() => undefined)]);
      limit.abort();
    },
  };
}

async function loadPush(options: PushOptions): Promise<() => Promise<void>> {
  const { OTLPMetricExporter } = await import('@opentelemetry/exporter-metrics-otlp-proto');
  const exporter = new OTLPMetricExporter({ url: options.url });
  const producer = bookProducer(options);
  return async () => {
    const { resourceMetrics } = await producer.collect();
    await new Promise<void>((resolve, reject) => {
      exporter.export(resourceMetrics, ({ error }) => {
        if (error === undefined) resolve();
        else reject(error);
      });
    });
  };
}

import {
  detectResources,
  envDetector,
  resourceFromAttributes,
  type Resource,
} from '@opentelemetry/resources';
import { TracerProvider, type SpanExporter } from '@opentelemetry/sdk-trace';
import type { Clock } from '../core/clock.ts';
import type { Log } from '../system/log.ts';
import { CountingExport } from './counting-export.ts';
import { ATTRIBUTE } from './names.ts';
import { StageSpans } from './spans.ts';
import type { StageTelemetry } from './stage-telemetry.ts';

export interface TelemetryOptions {
  /** Where spans go: the whole URL, with `/v1/traces`. */
  readonly tracesUrl: string;
  readonly stage: string;
  /** `tachograph/0.1.0`. */
  readonly software: string;
  readonly pid: number;
  readonly clock: Clock;
  /** Epoch ms with a fraction. */
  readonly nowMs: () => number;
  readonly log: Log;
  /** Absent: OTLP over HTTP, in protobuf. */
  readonly loadExporter?: () => Promise<SpanExporter>;
}

/**
 * Starts a stage's tracing, on the SDK's trace package alone: the same spans as with `sdk-node` and
 * instrumentation, for a tenth of its cold start and a quarter of its cost for each span.
 *
 * The standard variables of the exporter (headers, compression, time-out) and of the resource
 * (OTEL_RESOURCE_ATTRIBUTES, OTEL_SERVICE_NAME) are honoured; those win over what the stage says of
 * itself.
 */
export function startTelemetry(options: TelemetryOptions): StageTelemetry {
  const { clock, nowMs, log, software } = options;
  const [name = '', version = ''] = software.split('/');
  const load = options.loadExporter ?? (() => otlpExporter(options.tracesUrl));
  const sending = new CountingExport(load, log);
  const provider = new TracerProvider({
    resource: resourceOf(options, name, version),
    spanProcessors: [sending],
  });
  const spans = new StageSpans(provider.getTracer(name, version), nowMs);
  return {
    nowMs,
    start: (start) => spans.start(start),
    current: () => spans.current(),
    get dropped() {
      return sending.dropped;
    },
    stop: (limitMs) => stop(provider, sending, clock, log, limitMs),
  };
}

function resourceOf(options: TelemetryOptions, namespace: string, version: string): Resource {
  const own = resourceFromAttributes({
    [ATTRIBUTE.serviceName]: options.stage,
    [ATTRIBUTE.serviceNamespace]: namespace,
    [ATTRIBUTE.serviceVersion]: version,
    [ATTRIBUTE.serviceInstanceId]: `${options.stage}-${options.pid}`,
    [ATTRIBUTE.processPid]: options.pid,
  });
  return own.merge(detectResources({ detectors: [envDetector] }));
}

/** Loaded with the first batch: no cold start waits for it. */
async function otlpExporter(url: string): Promise<SpanExporter> {
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-proto');
  return new OTLPTraceExporter({ url });
}

async function stop(
  provider: TracerProvider,
  sending: CountingExport,
  clock: Clock,
  log: Log,
  limitMs: number,
): Promise<void> {
  const limit = new AbortController();
  await Promise.race([
    provider.shutdown().catch((error: unknown) => {
      log.warn('the last spans could not be sent', { why: (error as Error).message });
    }),
    clock.sleep(limitMs, limit.signal).catch(() => undefined),
  ]);
  limit.abort();
  const lost = sending.dropped + sending.undelivered;
  if (lost > 0) log.warn('spans were not delivered', { lost, delivered: sending.delivered });
}

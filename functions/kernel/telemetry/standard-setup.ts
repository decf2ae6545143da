import { trace, type Tracer } from '@opentelemetry/api';
import {
  envDetector,
  hostDetector,
  osDetector,
  processDetector,
  type Resource,
} from '@opentelemetry/resources';
import type { SpanProcessor } from '@opentelemetry/sdk-trace';

export interface StandardSetup {
  readonly tracer: Tracer;
  shutdown(): Promise<void>;
}

/**
 * OpenTelemetry's own set-up for Node, for those who want it: global tracer provider, propagators and
 * resource detectors, sampler and limits by the standard variables; instrumentations that were registered
 * before it are given its providers. Our spans are made by its tracer. What it costs: docs/tracing.md.
 *
 * It starts neither metrics nor logs: a stage has its own.
 */
export async function startStandardSetup(
  name: string,
  version: string,
  resource: Resource,
  spanProcessors: readonly SpanProcessor[],
): Promise<StandardSetup> {
  const { NodeSDK } = await import('@opentelemetry/sdk-node');
  const sdk = new NodeSDK({
    resource,
    // Its default has a fifth one, which would give the replica a random name instead of its own.
    resourceDetectors: [processDetector, hostDetector, osDetector, envDetector],
    spanProcessors: [...spanProcessors],
    metricReaders: [],
    logRecordProcessors: [],
    instrumentations: [],
  });
  sdk.start();
  return { tracer: trace.getTracer(name, version), shutdown: () => sdk.shutdown() };
}

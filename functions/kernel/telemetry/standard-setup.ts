import { context, propagation, trace, type Tracer } from '@opentelemetry/api';
import {
  envDetector,
  hostDetector,
  osDetector,
  processDetector,
  type Resource,
} from '@opentelemetry/resources';
import type { Sampler, SpanProcessor } from '@opentelemetry/sdk-trace';

export interface StandardSetupOptions {
  /** `tachograph/0.1.0`: name and version of the tracer. */
  readonly software: string;
  readonly resource: Resource;
  readonly sampler: Sampler;
  readonly spanProcessors: readonly SpanProcessor[];
}

/** One at a time in a process: the providers are global. */
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
export async function startStandardSetup({
  software,
  resource,
  sampler,
  spanProcessors,
}: StandardSetupOptions): Promise<StandardSetup> {
  const { NodeSDK } = await import('@opentelemetry/sdk-node');
  const sdk = new NodeSDK({
    resource,
    // Its default has a fifth one, which would give the replica a random name instead of its own.
    resourceDetectors: [processDetector, hostDetector, osDetector, envDetector],
    // It would read the standard variables too, but only warn of a value that is none.
    sampler,
    spanProcessors: [...spanProcessors],
    metricReaders: [],
    logRecordProcessors: [],
    instrumentations: [],
  });
  sdk.start();
  const [name = '', version = ''] = software.split('/');
  return {
    tracer: trace.getTracer(name, version),
    shutdown: () => {
      // What is global stays the first one's otherwise: the next set-up of this process would get spans
      // of a provider that has been shut down.
      for (const global of [trace, context, propagation]) global.disable();
      return sdk.shutdown();
    },
  };
}

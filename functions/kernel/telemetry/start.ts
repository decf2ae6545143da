import type { Tracer } from '@opentelemetry/api';
import { TracerProvider } from '@opentelemetry/sdk-trace';
import type { Clock } from '../core/clock.ts';
import { ATTRIBUTE } from './names.ts';
import { functionResource, processResource, type ProcessIdentity } from './process-resource.ts';
import { followsParent, samplerOf } from './sampler.ts';
import { SpanTargets, type TargetOptions } from './span-targets.ts';
import { StageSpans } from './spans.ts';
import type { StageTelemetry } from './stage-telemetry.ts';

export interface TelemetryOptions extends ProcessIdentity, Omit<TargetOptions, 'instance'> {
  /** `own`: the SDK's trace package alone. `sdk-node`: OpenTelemetry's whole set-up for Node. */
  readonly setup: 'own' | 'sdk-node';
  /** `sqlite` or `mongodb`. */
  readonly dbSystem: string;
  /** For the sampler and the resource's standard variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** Epoch ms with a fraction. */
  readonly nowMs: () => number;
}

/**
 * Starts a stage's tracing, by default on the SDK's trace package alone: the same spans as with
 * `sdk-node` and instrumentation, for a tenth of its cold start and a quarter of its cost for each span.
 *
 * The standard variables of the sampler, of the exporter (headers, compression, time-out) and of the
 * resource are honoured. Throws CONFIG_INVALID for a sampler that is none.
 */
export async function startTelemetry(options: TelemetryOptions): Promise<StageTelemetry> {
  const { clock, nowMs, software, setup, dbSystem } = options;
  const [name = '', version = ''] = software.split('/');
  const resource = processResource(options).merge(functionResource(options));
  // The platform may know the replica by another name: OTEL_RESOURCE_ATTRIBUTES says it.
  const instance = String(resource.attributes[ATTRIBUTE.serviceInstanceId]);
  const targets = new SpanTargets({ ...options, instance });
  const sampler = samplerOf(options.env);
  const spanProcessors = [...targets.processors];
  let tracer: Tracer;
  if (setup === 'own') {
    tracer = new TracerProvider({ resource, sampler, spanProcessors }).getTracer(name, version);
  } else {
    // Nothing of it is loaded where it was not asked for.
    const { startStandardSetup } = await import('./standard-setup.ts');
    ({ tracer } = await startStandardSetup({ software, resource, sampler, spanProcessors }));
  }
  const spans = new StageSpans({
    tracer,
    nowMs,
    dbSystem,
    followsParent: followsParent(options.env),
  });
  return {
    nowMs,
    start: (start) => spans.start(start),
    current: () => spans.current(),
    get dropped() {
      return targets.dropped;
    },
    stop: (limitMs) => targets.stop(limitMs, clock),
  };
}

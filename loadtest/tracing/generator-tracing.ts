import { SOFTWARE } from '#kernel/config/software.ts';
import { tracesUrl } from '#kernel/config/stage-config.ts';
import type { Clock } from '#kernel/core/clock.ts';
import type { Log } from '#kernel/system/log.ts';
import { epochMs } from '#kernel/system/start-timings.ts';
import { startStandardTracing, type ProcessTracing } from '#kernel/telemetry/process-tracing.ts';

/** `service.name` of vehicles and event sink. */
export const GENERATOR_SERVICE = 'load-generator';

export interface GeneratorTracingOptions {
  /** The local cluster's collector; undefined: none. */
  readonly spansUrl: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * The tracing of this process as a load generator, where traces begin: here OTEL_TRACES_SAMPLER decides.
 * undefined: nothing is to be traced.
 */
export async function startGeneratorTracing(
  options: GeneratorTracingOptions,
): Promise<ProcessTracing | undefined> {
  const { spansUrl, env, clock, log } = options;
  const { pid } = process;
  const url = tracesUrl(
    env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] ?? '',
    env['OTEL_EXPORTER_OTLP_ENDPOINT'] ?? '',
  );
  const isDisabled = env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true';
  if (isDisabled || (spansUrl === undefined && url === undefined)) return undefined;
  return startStandardTracing({
    service: GENERATOR_SERVICE,
    instance: `${GENERATOR_SERVICE}-${pid}`,
    software: SOFTWARE,
    pid,
    env,
    clock,
    nowMs: () => epochMs(clock.monotonicMs()),
    spansUrl,
    tracesUrl: url,
    log,
  });
}

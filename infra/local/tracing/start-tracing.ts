import type { Clock } from '#kernel/core/clock.ts';
import type { Log } from '#kernel/system/log.ts';
import { epochMs } from '#kernel/system/start-timings.ts';
import type { ClusterTracing } from './cluster-tracing.ts';

export interface TracingSurroundings {
  /** Where spans are kept; absent: only where the standard variables send them. */
  readonly spansDir?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly log: Log;
}

const ENDPOINTS = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'] as const;

/** The cluster's tracing; undefined where spans go nowhere, and then nothing of it is loaded. */
export async function startTracing({
  spansDir,
  env,
  clock,
  log,
}: TracingSurroundings): Promise<ClusterTracing | undefined> {
  const isDisabled = env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true';
  const isWanted = spansDir !== undefined || ENDPOINTS.some((name) => env[name]);
  if (isDisabled || !isWanted) return undefined;
  const { ClusterTracing: Tracing } = await import('./cluster-tracing.ts');
  const { pid } = process;
  return Tracing.start({ spansDir, env, pid, clock, toEpochMs: epochMs, log });
}

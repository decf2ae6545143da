import type { FieldReader } from '#infra/autoscaling/field-reader.ts';
import { CONTROLLER_DEFAULTS, type HpaConfig } from './hpa-config.ts';

/** What a cluster's controller is started with and no manifest says. */
export type ControllerFlags = Pick<
  HpaConfig,
  | 'syncPeriodMs'
  | 'tolerance'
  | 'cpuInitializationPeriodMs'
  | 'initialReadinessDelayMs'
  | 'downscaleStabilizationMs'
  | 'metricWindowMs'
>;

/** Bounds what is kept: of one hour, the longest window, 36,000 recommendations. */
const MIN_SYNC_PERIOD_MS = 100;
/** Replicas are sampled once a second. */
const MIN_METRIC_WINDOW_MS = 1_000;

/** Annotations that say it for the local cluster; a real one has them as flags of its controller. */
export const FLAG_ANNOTATIONS = [
  'tachograph.io/sync-period',
  'tachograph.io/tolerance',
  'tachograph.io/cpu-initialization-period',
  'tachograph.io/initial-readiness-delay',
  'tachograph.io/downscale-stabilization',
  'tachograph.io/metric-window',
] as const;

/** Reads them from an object's annotations; `at` is where those stand, for faults. */
export function readControllerFlags(
  reader: FieldReader,
  root: unknown,
  at: readonly string[],
): ControllerFlags {
  const duration = (name: string, fallbackMs: number, minMs = 0): number =>
    reader.duration(root, [...at, `tachograph.io/${name}`], fallbackMs, minMs);
  const defaults = CONTROLLER_DEFAULTS;
  return {
    syncPeriodMs: duration('sync-period', defaults.syncPeriodMs, MIN_SYNC_PERIOD_MS),
    tolerance: reader.number(root, [...at, 'tachograph.io/tolerance'], {
      min: 0,
      max: 10,
      text: 'alone',
      fallback: defaults.tolerance,
    }),
    cpuInitializationPeriodMs: duration(
      'cpu-initialization-period',
      defaults.cpuInitializationPeriodMs,
    ),
    initialReadinessDelayMs: duration('initial-readiness-delay', defaults.initialReadinessDelayMs),
    downscaleStabilizationMs: duration(
      'downscale-stabilization',
      defaults.downscaleStabilizationMs,
    ),
    metricWindowMs: duration('metric-window', defaults.metricWindowMs, MIN_METRIC_WINDOW_MS),
  };
}

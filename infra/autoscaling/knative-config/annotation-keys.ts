import type { ConfigKey } from './config-keys.ts';

/**
 * The annotations of a revision (`spec.template.metadata.annotations`) that say how it is scaled.
 *
 * Names, camelCase names and ranges: knative/serving pkg/apis/autoscaling/register.go and
 * annotation_validation.go, commit 98e5ef90aa7033797aa0a61ef97f3ff7e49a3944 (v1.23).
 */
export interface AnnotationRow {
  /** An older name, without the group, that is read where the first is missing. */
  readonly alias: string | null;
  /** The key of `config-autoscaler` that decides without it; else, for people, what then holds. */
  readonly otherwise: { readonly config: ConfigKey } | { readonly text: string };
  /** For people: the rule itself stands in autoscaling-annotations.ts. */
  readonly allowed: string;
  /** Which classes act on it. */
  readonly classes: 'all' | 'kpa';
}

export const GROUP = 'autoscaling.knative.dev';
export const KPA_CLASS = 'kpa.autoscaling.knative.dev';
export const HPA_CLASS = 'hpa.autoscaling.knative.dev';

/** Not of the group, but read by the same code: how long a revision may take to become ready. */
export const PROGRESS_DEADLINE = 'serving.knative.dev/progress-deadline';

const config = (key: ConfigKey): { readonly config: ConfigKey } => ({ config: key });

const row = (
  classes: AnnotationRow['classes'],
  otherwise: AnnotationRow['otherwise'],
  allowed: string,
  alias: string | null = null,
): AnnotationRow => ({ alias, otherwise, allowed, classes });

export const ANNOTATIONS = {
  class: row('all', config('pod-autoscaler-class'), `${KPA_CLASS}, ${HPA_CLASS}`),
  metric: row('all', { text: 'concurrency; hpa: cpu' }, 'concurrency, rps; hpa: also cpu, memory'),
  target: row(
    'all',
    {
      text:
        'containerConcurrency, and where that is 0 `container-concurrency-target-default`; rps: ' +
        '`requests-per-second-target-default`; hpa: 80 % of the CPU request',
    },
    '≥ 0.01',
  ),
  'target-utilization-percentage': row(
    'kpa',
    { text: '`container-concurrency-target-percentage`; rps: 70' },
    '1 to 100',
    'targetUtilizationPercentage',
  ),
  'target-burst-capacity': row(
    'kpa',
    config('target-burst-capacity'),
    '≥ 0, or -1',
    'targetBurstCapacity',
  ),
  window: row(
    'all',
    { text: '`stable-window`; hpa: up at once, down after 5 min' },
    '6s to 1h, whole seconds',
  ),
  'panic-window-percentage': row(
    'kpa',
    config('panic-window-percentage'),
    '1 to 100',
    'panicWindowPercentage',
  ),
  'panic-threshold-percentage': row(
    'kpa',
    config('panic-threshold-percentage'),
    '110 to 1000',
    'panicThresholdPercentage',
  ),
  'metric-aggregation-algorithm': row(
    'kpa',
    { text: 'linear' },
    'linear, weighted-exponential',
    'metricAggregationAlgorithm',
  ),
  'min-scale': row('all', config('min-scale'), '≥ 0, at most max-scale', 'minScale'),
  'max-scale': row('all', config('max-scale'), '≥ 0, 0: no maximum', 'maxScale'),
  'initial-scale': row(
    'kpa',
    config('initial-scale'),
    '≥ 1; 0 with allow-zero-initial-scale',
    'initialScale',
  ),
  'activation-scale': row('kpa', { text: 'none' }, '≥ 2, from min-scale to max-scale'),
  'scale-down-delay': row(
    'kpa',
    config('scale-down-delay'),
    '0s to 1h, whole seconds',
    'scaleDownDelay',
  ),
  'scale-to-zero-pod-retention-period': row(
    'kpa',
    config('scale-to-zero-pod-retention-period'),
    '0s to 1h',
    'scaleToZeroPodRetentionPeriod',
  ),
} as const satisfies Record<string, AnnotationRow>;

export type AnnotationName = keyof typeof ANNOTATIONS;

/** All names that are read, with their group. */
export const KNOWN_ANNOTATIONS: readonly string[] = Object.entries<AnnotationRow>(
  ANNOTATIONS,
).flatMap(([name, { alias }]) => [
  `${GROUP}/${name}`,
  ...(alias === null ? [] : [`${GROUP}/${alias}`]),
]);

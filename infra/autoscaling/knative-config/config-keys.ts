/**
 * The keys of Knative's ConfigMap `config-autoscaler` (namespace `knative-serving`): what each is where
 * the ConfigMap does not say, what it may be, and which annotation sets it for one revision.
 *
 * Names, defaults and ranges: knative/serving pkg/autoscaler/config/config.go and
 * config/core/configmaps/autoscaler.yaml, commit 98e5ef90aa7033797aa0a61ef97f3ff7e49a3944 (v1.23).
 */
export interface ConfigKeyRow {
  readonly default: string;
  /** For people: the rule itself stands in config-autoscaler.ts. */
  readonly allowed: string;
  /** Its annotation, without the group; null: only for all revisions alike. */
  readonly annotation: string | null;
}

export const CONFIG_KEYS = {
  'pod-autoscaler-class': {
    default: 'kpa.autoscaling.knative.dev',
    allowed: 'a class',
    annotation: 'class',
  },
  'enable-scale-to-zero': { default: 'true', allowed: 'true, false', annotation: null },
  'allow-zero-initial-scale': { default: 'false', allowed: 'true, false', annotation: null },
  'container-concurrency-target-percentage': {
    default: '70',
    allowed: '(0, 100]; up to 1 it is a fraction',
    annotation: 'target-utilization-percentage',
  },
  'container-concurrency-target-default': {
    default: '100',
    allowed: '× percentage ≥ 0.01',
    annotation: 'target',
  },
  'requests-per-second-target-default': {
    default: '200',
    allowed: '≥ 0.01',
    annotation: 'target',
  },
  'target-burst-capacity': {
    default: '211',
    allowed: '≥ 0, or -1',
    annotation: 'target-burst-capacity',
  },
  'stable-window': { default: '60s', allowed: '6s to 1h, whole seconds', annotation: 'window' },
  'panic-window-percentage': {
    default: '10',
    allowed: '1 to 100',
    annotation: 'panic-window-percentage',
  },
  'panic-threshold-percentage': {
    default: '200',
    allowed: 'a number',
    annotation: 'panic-threshold-percentage',
  },
  'max-scale-up-rate': { default: '1000', allowed: '> 1', annotation: null },
  'max-scale-down-rate': { default: '2', allowed: '> 1', annotation: null },
  'min-scale': { default: '0', allowed: '≥ 0, at most max-scale', annotation: 'min-scale' },
  'max-scale': {
    default: '0',
    allowed: '≥ 0, 0: no maximum; 1 to max-scale-limit where that is set',
    annotation: 'max-scale',
  },
  'max-scale-limit': { default: '0', allowed: '≥ 0, 0: no limit', annotation: null },
  'initial-scale': {
    default: '1',
    allowed: '≥ 1; 0 with allow-zero-initial-scale',
    annotation: 'initial-scale',
  },
  'scale-down-delay': {
    default: '0s',
    allowed: '≥ 0s, whole seconds',
    annotation: 'scale-down-delay',
  },
  'scale-to-zero-grace-period': { default: '30s', allowed: '> 0s', annotation: null },
  'scale-to-zero-pod-retention-period': {
    default: '0s',
    allowed: '≥ 0s',
    annotation: 'scale-to-zero-pod-retention-period',
  },
  'activator-capacity': { default: '100', allowed: '≥ 1', annotation: null },
} as const satisfies Record<string, ConfigKeyRow>;

export type ConfigKey = keyof typeof CONFIG_KEYS;

/** A page of explanations that ships in the ConfigMap; nothing reads it. */
export const EXAMPLE_KEY = '_example';

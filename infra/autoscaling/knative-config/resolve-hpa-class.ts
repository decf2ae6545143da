import {
  CONTROLLER_DEFAULTS,
  DEFAULT_BEHAVIOR,
  type HpaConfig,
  type HpaMetric,
} from '#infra/autoscaling/hpa/hpa-config.ts';
import { GROUP } from './annotation-keys.ts';
import type { AutoscalingAnnotations } from './autoscaling-annotations.ts';
import type { AutoscalerConfig } from './config-autoscaler.ts';
import { parsed, type ConfigFault, type Parsed } from './config-fault.ts';
import { MAX_INT32 } from './go-values.ts';
import { resolveBounds, type RevisionScaling } from './resolve-kpa.ts';

/** What one replica requests; null: nothing, and a share of it does not exist. */
export interface ReplicaRequests {
  readonly cpuRequestMillis: number | null;
  readonly memoryRequestBytes: number | null;
}

const MEBIBYTE = 1_048_576;
/** The API's default for an autoscaler without metrics: so many percent of the CPU request. */
const DEFAULT_CPU_PERCENT = 80;

/**
 * The HorizontalPodAutoscaler that Knative makes for a revision of the class hpa, with the API's and the
 * controller's defaults; the tachograph.io annotations of the controller's own settings are for the
 * caller to put in. There is no way to zero: a minimum of 0 is left out, and the API has 1.
 *
 * Source: knative/serving pkg/reconciler/autoscaling/hpa/resources/hpa.go, MakeHPA, commit 98e5ef90.
 */
export function resolveHpaClass(
  annotations: AutoscalingAnnotations,
  config: AutoscalerConfig,
  revision: ReplicaRequests & Pick<RevisionScaling, 'reachable'>,
): Parsed<HpaConfig> {
  const { reachable = true, cpuRequestMillis, memoryRequestBytes } = revision;
  const faults: ConfigFault[] = [];
  const { min, max } = resolveBounds(annotations, config, reachable);
  const minReplicas = Math.max(1, min);
  const maxReplicas = max ?? MAX_INT32;
  if (minReplicas > maxReplicas) {
    const key = `${GROUP}/max-scale`;
    const message = `${key} is ${maxReplicas}, it must not be below the minimum of ${minReplicas}`;
    faults.push({ key, message });
  }
  const metric = resolveMetric(annotations, faults);
  const { windowMs } = annotations;
  const { scaleUp, scaleDown } = DEFAULT_BEHAVIOR;
  const stabilized = { stabilizationWindowMs: windowMs };
  return parsed(faults, () => ({
    ...CONTROLLER_DEFAULTS,
    minReplicas,
    maxReplicas,
    metrics: [metric],
    behavior:
      windowMs === null
        ? null
        : { scaleUp: { ...scaleUp, ...stabilized }, scaleDown: { ...scaleDown, ...stabilized } },
    cpuRequestMillis,
    memoryRequestBytes,
  }));
}

/**
 * `cpu` is a share of the request, rounded up (1982.4 → 1983 %); the others are whole figures a replica,
 * cut off. Without a target the metric does not count either: it is 80 % of CPU.
 */
function resolveMetric(
  { metric, target }: AutoscalingAnnotations,
  faults: ConfigFault[],
): HpaMetric {
  const byDefault: HpaMetric = {
    kind: 'cpu',
    utilizationPercent: DEFAULT_CPU_PERCENT,
    averageValue: null,
  };
  if (target === null) return byDefault;
  if (metric === 'cpu') return { ...byDefault, utilizationPercent: Math.ceil(target) };
  const whole = Math.trunc(target);
  if (whole < 1) {
    const key = `${GROUP}/target`;
    const message = `${key} is ${target}; for the metric ${metric} it is cut off to ${whole} and must be at least 1`;
    faults.push({ key, message });
  }
  if (metric === 'memory') {
    return { kind: 'memory', utilizationPercent: null, averageValue: whole * MEBIBYTE };
  }
  if (metric === 'concurrency' || metric === 'rps') return { kind: metric, averageValue: whole };
  const key = `${GROUP}/metric`;
  const message = `${key} is ${metric}; only cpu, memory, concurrency and rps are measured here`;
  faults.push({ key, message });
  return byDefault;
}

import { FieldReader, type FieldsRead } from '#infra/autoscaling/field-reader.ts';
import { readBehavior } from '#infra/autoscaling/hpa/read-behavior.ts';
import { readControllerFlags } from '#infra/autoscaling/hpa/read-controller-flags.ts';
import { KEDA_DEFAULTS, type KedaConfig } from './keda-config.ts';

const MAX_REPLICAS = 256;
const MAX_S = 86_400;

/** A ScaledObject as its policy needs it, with what it watches. */
export interface ScaledObject {
  readonly config: KedaConfig;
  /** Name of the scaled Deployment. */
  readonly target: string;
}

/**
 * Reads a ScaledObject (keda.sh/v1alpha1) with one trigger of type nats-jetstream, given as a plain value.
 *
 * Its consumer is that of the Trigger which leads to the scaled Deployment: on a cluster the consumer's
 * name holds a UID that is known only after that object exists, so the local cluster takes it by the
 * Trigger, whatever the name.
 */
export function readScaledObject(manifest: unknown): FieldsRead<ScaledObject> {
  const reader = new FieldReader();
  const target = FieldReader.at(manifest, ['spec', 'scaleTargetRef', 'name']);
  if (typeof target !== 'string') {
    reader.fault(['spec', 'scaleTargetRef'], 'scaleTargetRef needs the name of a Deployment');
  }
  const config = readConfig(reader, manifest);
  return reader.result({ config, target: String(target) });
}

function readConfig(reader: FieldReader, manifest: unknown): KedaConfig {
  const seconds = (name: string, fallbackMs: number, min = 0): number =>
    reader.number(manifest, ['spec', name], {
      min,
      max: MAX_S,
      integer: true,
      fallback: fallbackMs / 1_000,
    }) * 1_000;
  const { minReplicaCount, maxReplicaCount, idleReplicaCount } = readCounts(reader, manifest);
  const { lagThreshold, activationLagThreshold } = readTrigger(reader, manifest);
  const advanced = ['spec', 'advanced', 'horizontalPodAutoscalerConfig', 'behavior'];
  return {
    pollingIntervalMs: seconds('pollingInterval', KEDA_DEFAULTS.pollingIntervalMs, 1),
    cooldownPeriodMs: seconds('cooldownPeriod', KEDA_DEFAULTS.cooldownPeriodMs),
    initialCooldownPeriodMs: seconds(
      'initialCooldownPeriod',
      KEDA_DEFAULTS.initialCooldownPeriodMs,
    ),
    minReplicaCount,
    maxReplicaCount,
    idleReplicaCount,
    lagThreshold,
    activationLagThreshold,
    hpa: {
      minReplicas: Math.max(1, minReplicaCount),
      maxReplicas: maxReplicaCount,
      metrics: [{ kind: 'external', name: 'nats-jetstream lag', averageValue: lagThreshold }],
      behavior: readBehavior(reader, manifest, advanced),
      ...readControllerFlags(reader, manifest, ['metadata', 'annotations']),
      cpuRequestMillis: null,
      memoryRequestBytes: null,
    },
  };
}

/**
 * The bounds, as KEDA checks them (CheckReplicaCountBoundsAreValid). Idle replicas have to be 0: any
 * others would be raised to minReplicaCount by the HPA at its next synchronisation.
 */
function readCounts(
  reader: FieldReader,
  manifest: unknown,
): Pick<KedaConfig, 'minReplicaCount' | 'maxReplicaCount' | 'idleReplicaCount'> {
  const at = (name: string): unknown => FieldReader.at(manifest, ['spec', name]);
  const count = (name: string, fallback: number, max = MAX_REPLICAS): number =>
    reader.number(manifest, ['spec', name], { min: 0, max, integer: true, fallback });
  const minReplicaCount = count('minReplicaCount', KEDA_DEFAULTS.minReplicaCount);
  const maxReplicaCount = count('maxReplicaCount', KEDA_DEFAULTS.maxReplicaCount);
  const least = Math.max(1, minReplicaCount);
  if (least > maxReplicaCount) {
    const detail = `maxReplicaCount ${maxReplicaCount} must be at least ${least}`;
    reader.fault(['spec', 'maxReplicaCount'], detail);
  }
  if (at('idleReplicaCount') === undefined) {
    return { minReplicaCount, maxReplicaCount, idleReplicaCount: null };
  }
  if (at('minReplicaCount') === undefined) {
    reader.fault(['spec', 'idleReplicaCount'], 'idleReplicaCount needs a minReplicaCount above it');
  }
  return { minReplicaCount, maxReplicaCount, idleReplicaCount: count('idleReplicaCount', 0, 0) };
}

function readTrigger(
  reader: FieldReader,
  manifest: unknown,
): Pick<KedaConfig, 'lagThreshold' | 'activationLagThreshold'> {
  const at = ['spec', 'triggers'];
  const triggers = FieldReader.at(manifest, at);
  if (!Array.isArray(triggers) || triggers.length !== 1) {
    reader.fault(at, 'triggers must be a list of one, of type nats-jetstream');
    return KEDA_DEFAULTS;
  }
  reader.oneOf(manifest, [...at, '0', 'type'], ['nats-jetstream']);
  const metadata = [...at, '0', 'metadata'];
  return {
    lagThreshold: reader.number(manifest, [...metadata, 'lagThreshold'], {
      min: 1,
      max: 1_000_000,
      integer: true,
      text: 'alone',
      fallback: KEDA_DEFAULTS.lagThreshold,
    }),
    activationLagThreshold: reader.number(manifest, [...metadata, 'activationLagThreshold'], {
      min: 0,
      max: 1_000_000,
      integer: true,
      text: 'alone',
      fallback: KEDA_DEFAULTS.activationLagThreshold,
    }),
  };
}

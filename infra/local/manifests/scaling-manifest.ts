import { FieldReader, type FieldFault, type FieldsRead } from '#infra/autoscaling/field-reader.ts';
import type { FixedConfig } from '#infra/autoscaling/fixed/fixed.ts';
import type { HpaConfig } from '#infra/autoscaling/hpa/hpa-config.ts';
import {
  FLAG_ANNOTATIONS,
  readControllerFlags,
} from '#infra/autoscaling/hpa/read-controller-flags.ts';
import { readHpa } from '#infra/autoscaling/hpa/read-hpa.ts';
import type { KedaConfig } from '#infra/autoscaling/keda/keda-config.ts';
import { readScaledObject } from '#infra/autoscaling/keda/read-scaled-object.ts';
import { GROUP, HPA_CLASS, KPA_CLASS } from '#infra/autoscaling/knative-config/annotation-keys.ts';
import { parseAutoscalingAnnotations } from '#infra/autoscaling/knative-config/autoscaling-annotations.ts';
import type { AutoscalerConfig } from '#infra/autoscaling/knative-config/config-autoscaler.ts';
import type { ConfigFault } from '#infra/autoscaling/knative-config/config-fault.ts';
import { resolveHpaClass } from '#infra/autoscaling/knative-config/resolve-hpa-class.ts';
import { resolveBounds, resolveKpaConfig } from '#infra/autoscaling/knative-config/resolve-kpa.ts';
import type { KpaConfig } from '#infra/autoscaling/kpa/kpa-config.ts';
import type { NodeConfig } from '#infra/autoscaling/node/node-config.ts';
import { readNodeScaler } from '#infra/autoscaling/node/read-node-scaler.ts';
import type { ScaleBounds } from '#infra/autoscaling/policy.ts';
import { readSchedule } from '#infra/autoscaling/schedule/read-schedule.ts';
import type { ScheduleConfig } from '#infra/autoscaling/schedule/schedule.ts';
import { nodeAt, plainValue, textAt, type LocatedMap, type LocatedNode } from './located-node.ts';
import { manifestError, throwFaults } from './manifest-error.ts';
import { readLabels, type WorkloadManifest } from './service-manifest.ts';

/** What moves the replicas of a workload, with its settings resolved. */
export type Scaling =
  | { readonly policy: 'kpa'; readonly config: KpaConfig }
  | { readonly policy: 'hpa'; readonly config: HpaConfig }
  | { readonly policy: 'keda'; readonly config: KedaConfig }
  | { readonly policy: 'node' }
  | { readonly policy: 'fixed'; readonly config: FixedConfig }
  | { readonly policy: 'schedule'; readonly config: ScheduleConfig }
  | {
      readonly policy: 'custom';
      readonly module: string;
      readonly config: unknown;
      readonly periodMs: number;
      readonly bounds: ScaleBounds;
    };

/** The objects that scale workloads from outside. */
export interface Scalers {
  readonly autoscalers: readonly LocatedMap[];
  readonly scaledObjects: readonly LocatedMap[];
  readonly nodeScaler: LocatedMap | undefined;
  /** ConfigMap config-autoscaler, or its defaults. */
  readonly config: AutoscalerConfig;
}

const CLASS = `${GROUP}/class`;
const SCHEDULE = 'tachograph.io/schedule';
/** Names a policy of the user's own, by its file in the repository. */
export const POLICY_ANNOTATION = 'tachograph.io/policy';
const POLICY_CONFIG = 'tachograph.io/policy-config';
const POLICY_PERIOD = 'tachograph.io/policy-period';
const DEFAULT_PERIOD_MS = 2_000;

/** The NodeScaler's settings; throws MANIFEST_INVALID with file and line. */
export const nodeScalerConfig = (manifest: LocatedMap): NodeConfig =>
  checkedFields(manifest, readNodeScaler(plainValue(nodeAt(manifest, 'spec') ?? manifest)), [
    'spec',
  ]);

/** What scales a workload; throws MANIFEST_INVALID where two things would. */
export function readScaling(workload: WorkloadManifest, scalers: Scalers): Scaling {
  const own = ownPolicy(workload, scalers);
  if (workload.kind === 'Service') {
    const scaling = knativeScaling(workload, scalers, own);
    if (scaling.policy !== 'hpa') refuseFlags(workload, scaling.policy);
    return scaling;
  }
  const outside = outsideScalings(workload, scalers);
  const all = [...(own === undefined ? [] : [own]), ...outside];
  if (all.length > 1) {
    const names = all.map(({ policy }) => policy).join(' and ');
    const detail = `the Deployment ${workload.name} is scaled by ${names}: two writers fight`;
    throw manifestError(workload.at, detail);
  }
  return all[0] ?? { policy: 'fixed', config: { replicas: workload.replicas ?? 1 } };
}

/** A policy that an annotation of the object names. */
function ownPolicy(workload: WorkloadManifest, { config }: Scalers): Scaling | undefined {
  const at = (name: string): LocatedNode | undefined =>
    nodeAt(workload.node, 'metadata', 'annotations', name);
  const text = (name: string): string | undefined =>
    textAt(workload.node, 'metadata', 'annotations', name);
  const schedule = text(SCHEDULE);
  const module = text(POLICY_ANNOTATION);
  const place = (name: string) => at(name)?.at ?? workload.at;
  if (schedule !== undefined && module !== undefined) {
    throw manifestError(
      place(POLICY_ANNOTATION),
      `${SCHEDULE} and ${POLICY_ANNOTATION} exclude each other`,
    );
  }
  if (schedule !== undefined) {
    const read = readSchedule(schedule);
    if (typeof read === 'string') throw manifestError(place(SCHEDULE), `${SCHEDULE}: ${read}`);
    return { policy: 'schedule', config: read };
  }
  if (module === undefined) {
    refuseAnnotation(workload, [POLICY_CONFIG, POLICY_PERIOD], `without ${POLICY_ANNOTATION}`);
    return undefined;
  }
  return {
    policy: 'custom',
    module,
    config: jsonOf(text(POLICY_CONFIG), place(POLICY_CONFIG)),
    periodMs: periodOf(text(POLICY_PERIOD), place(POLICY_PERIOD)),
    bounds: boundsOf(workload, config),
  };
}

function jsonOf(text: string | undefined, at: LocatedMap['at']): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw manifestError(at, `${POLICY_CONFIG} is not JSON: ${error.message}`, error);
  }
}

function periodOf(text: string | undefined, at: LocatedMap['at']): number {
  const reader = new FieldReader();
  const periodMs = reader.duration({ [POLICY_PERIOD]: text }, [POLICY_PERIOD], DEFAULT_PERIOD_MS);
  const [fault] = reader.faults;
  if (fault !== undefined) throw manifestError(at, fault.message);
  return periodMs;
}

function boundsOf(workload: WorkloadManifest, config: AutoscalerConfig): ScaleBounds {
  if (workload.kind === 'Deployment') return { min: 0, max: null };
  const { min, max } = resolveBounds(annotationsOf(workload, config), config, true);
  return { min, max };
}

function annotationsOf(workload: WorkloadManifest, config: AutoscalerConfig) {
  const node = nodeAt(workload.node, 'spec', 'template', 'metadata', 'annotations');
  const parsed = parseAutoscalingAnnotations(readLabels(node, 'annotation'), config);
  return checkedKeys(workload, node, parsed);
}

/** Its annotations hold, as a cluster's webhook asks, also where a policy of its `own` scales it. */
function knativeScaling(
  workload: WorkloadManifest,
  { config }: Scalers,
  own: Scaling | undefined,
): Scaling {
  const annotations = annotationsOf(workload, config);
  if (own !== undefined) return own;
  const { containerConcurrency, resources } = workload;
  if (annotations.class === KPA_CLASS) {
    const resolved = resolveKpaConfig(annotations, config, { containerConcurrency });
    return { policy: 'kpa', config: resolved };
  }
  const node = nodeAt(workload.node, 'spec', 'template', 'metadata', 'annotations');
  if (annotations.class !== HPA_CLASS) {
    const detail = `class "${annotations.class}" is none of ${KPA_CLASS}, ${HPA_CLASS}`;
    const written = node === undefined ? undefined : nodeAt(node, CLASS);
    throw manifestError(written?.at ?? workload.at, detail);
  }
  const hpa = checkedKeys(workload, node, resolveHpaClass(annotations, config, resources));
  const flags = readFlags(workload);
  return { policy: 'hpa', config: { ...hpa, ...flags } };
}

const refuseFlags = (workload: WorkloadManifest, policy: Scaling['policy']): void =>
  refuseAnnotation(workload, FLAG_ANNOTATIONS, `where ${policy} scales the Service`);

/** An annotation that is read only in other company would be a setting that silently does nothing. */
function refuseAnnotation(
  workload: WorkloadManifest,
  names: readonly string[],
  where: string,
): void {
  for (const name of names) {
    const node = nodeAt(workload.node, 'metadata', 'annotations', name);
    if (node !== undefined) throw manifestError(node.at, `${name} does nothing ${where}`);
  }
}

/** What a cluster's HPA controller is started with, from the Service's own annotations. */
function readFlags(workload: WorkloadManifest) {
  const node = nodeAt(workload.node, 'metadata', 'annotations');
  const reader = new FieldReader();
  const plain = node === undefined ? {} : plainValue(node);
  const flags = readControllerFlags(reader, plain, []);
  checkedFields(workload.node, reader.result(flags), ['metadata', 'annotations']);
  return flags;
}

function outsideScalings(workload: WorkloadManifest, scalers: Scalers): Scaling[] {
  const { name, resources } = workload;
  const scalings: Scaling[] = [];
  for (const manifest of scalers.autoscalers) {
    if (textAt(manifest, 'spec', 'scaleTargetRef', 'name') !== name) continue;
    const config = checkedFields(manifest, readHpa(plainValue(manifest), resources), []);
    scalings.push({ policy: 'hpa', config });
  }
  for (const manifest of scalers.scaledObjects) {
    const { config, target } = checkedFields(manifest, readScaledObject(plainValue(manifest)), []);
    if (target === name) scalings.push({ policy: 'keda', config });
  }
  const { nodeScaler } = scalers;
  if (nodeScaler !== undefined) {
    const { services } = nodeScalerConfig(nodeScaler);
    if (services.some((service) => service.name === name)) scalings.push({ policy: 'node' });
  }
  return scalings;
}

/** Annotations of a Service's or a Deployment's own that name what scales it. */
export const POLICY_ANNOTATIONS = [
  SCHEDULE,
  POLICY_ANNOTATION,
  POLICY_CONFIG,
  POLICY_PERIOD,
] as const;

/** The value; otherwise its faults, each with the place of its key. */
function checkedKeys<T>(
  workload: WorkloadManifest,
  annotations: LocatedNode | undefined,
  parsed: { readonly value: T | undefined; readonly faults: readonly ConfigFault[] },
): T {
  throwFaults(
    parsed.faults.map(({ key, message }) => {
      const node = annotations === undefined ? undefined : nodeAt(annotations, key);
      return { at: node?.at ?? workload.at, message };
    }),
  );
  return parsed.value as T;
}

/** The value; otherwise its faults, each with the place of its field: the nearest one that is there. */
function checkedFields<T>(root: LocatedMap, read: FieldsRead<T>, above: readonly string[]): T {
  const faults: readonly FieldFault[] = read.faults;
  throwFaults(
    faults.map((fault) => {
      const path = [...above, ...fault.path];
      return {
        at: nearest(root, path).at,
        message: `${path.join('.')}: ${fault.message}`,
      };
    }),
  );
  return read.value as T;
}

function nearest(root: LocatedNode, path: readonly string[]): LocatedNode {
  let node = root;
  for (const name of path) {
    const child = node.kind === 'list' ? node.items[Number(name)] : nodeAt(node, name);
    if (child === undefined) break;
    node = child;
  }
  return node;
}

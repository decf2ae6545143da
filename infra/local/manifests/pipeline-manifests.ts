import type { NodeConfig } from '#infra/autoscaling/node/node-config.ts';
import { checkFields } from './check-fields.ts';
import { CHANNEL_TABLE, FIELD_TABLE } from './field-table.ts';
import { buildKustomization } from './kustomize.ts';
import {
  nodeAt,
  plainValue,
  textAt,
  type LocatedMap,
  type LocatedNode,
  type Place,
  type PlainValue,
} from './located-node.ts';
import { manifestError } from './manifest-error.ts';
import { manifestFiles, type ManifestFiles } from './manifest-files.ts';
import { parseYaml } from './parse-yaml.ts';
import { readAutoscalerConfig } from './autoscaler-config-map.ts';
import {
  nodeScalerConfig,
  POLICY_ANNOTATION,
  readScaling,
  type Scalers,
  type Scaling,
} from './scaling-manifest.ts';
import {
  ENTRY_ANNOTATION,
  nameOf,
  namespaceOf,
  readDeployment,
  readLabels,
  readService,
  type WorkloadManifest,
} from './service-manifest.ts';

/** A checked manifest as an ordinary object. */
export interface PlainManifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: { readonly [name: string]: PlainValue | undefined };
  readonly data?: Readonly<Record<string, string>>;
  readonly stringData?: Readonly<Record<string, string>>;
}

/** A workload with what scales it. */
export interface ScaledWorkload extends WorkloadManifest {
  readonly scaling: Scaling;
}

/** Everything the local cluster runs, as the YAML describes it. */
export interface PipelineManifests {
  /** Knative Services and Deployments. */
  readonly services: readonly ScaledWorkload[];
  /** The node-based policy's settings, where the YAML has a NodeScaler. */
  readonly nodeScaler?: NodeConfig;
  readonly brokers: readonly PlainManifest[];
  readonly triggers: readonly PlainManifest[];
  readonly sinkBindings: readonly PlainManifest[];
  readonly pingSources: readonly PlainManifest[];
  readonly configMaps: readonly PlainManifest[];
  readonly secrets: readonly PlainManifest[];
  /** `Kind field.path` of fields that a cluster acts on and the local cluster does not, sorted. */
  readonly inertFields: readonly string[];
}

/**
 * Reads and checks an overlay. `folder` is relative to `root`; `extra` are files, by their paths, that lie
 * over the tree, such as an overlay that nobody has written to the disk. Throws MANIFEST_INVALID.
 */
export async function readPipeline(
  root: string,
  folder: string,
  extra: Readonly<Record<string, string>> = {},
): Promise<PipelineManifests> {
  const files = await manifestFiles(root, extra);
  const manifests = await buildKustomization(files, folder);
  const inert = new Set<string>();
  for (const manifest of manifests) {
    for (const field of checkFields(manifest, FIELD_TABLE)) inert.add(field);
    for (const field of checkChannel(manifest)) inert.add(field);
  }
  const services = readWorkloads(manifests);
  for (const { entry, scaling, node } of services) {
    const placeOf = (name: string): Place =>
      nodeAt(node, 'metadata', 'annotations', name)?.at ?? node.at;
    await resolveProgram(files, entry, placeOf(ENTRY_ANNOTATION));
    if (scaling.policy !== 'custom') continue;
    await resolveProgram(files, scaling.module, placeOf(POLICY_ANNOTATION));
  }
  const [nodeScaler] = ofKind(manifests, 'NodeScaler');
  const plain = (kind: string): PlainManifest[] => ofKind(manifests, kind).map(plainManifest);
  return {
    services,
    ...(nodeScaler === undefined ? {} : { nodeScaler: nodeScalerConfig(nodeScaler) }),
    brokers: plain('Broker'),
    triggers: plain('Trigger'),
    sinkBindings: plain('SinkBinding'),
    pingSources: plain('PingSource'),
    configMaps: plain('ConfigMap'),
    secrets: plain('Secret'),
    inertFields: [...inert].sort(),
  };
}

/** What an annotation names must be a file inside the repository: a folder would fail only at its start. */
async function resolveProgram(files: ManifestFiles, path: string, at: Place): Promise<void> {
  const resolved = await files.resolve('', path, at);
  if (await files.isFolder(resolved)) throw manifestError(at, `"${path}" is a folder, not a file`);
}

function readWorkloads(manifests: readonly LocatedMap[]): readonly ScaledWorkload[] {
  const knative = ofKind(manifests, 'Service').filter(isKnative).map(readService);
  const deployments = ofKind(manifests, 'Deployment').map(readDeployment);
  const workloads = [...knative, ...deployments];
  const seen = new Set<string>();
  for (const { name, at } of workloads) {
    if (seen.has(name)) throw manifestError(at, `there are a Service and a Deployment ${name}`);
    seen.add(name);
  }
  checkCoreServices(manifests, deployments);
  const [nodeScaler, second] = ofKind(manifests, 'NodeScaler');
  if (second !== undefined) throw manifestError(second.at, 'there is a second NodeScaler');
  const scalers: Scalers = {
    autoscalers: ofKind(manifests, 'HorizontalPodAutoscaler'),
    scaledObjects: ofKind(manifests, 'ScaledObject'),
    nodeScaler,
    config: readAutoscalerConfig(ofKind(manifests, 'ConfigMap')),
  };
  checkTargets(scalers, deployments);
  return workloads.map((workload) => ({ ...workload, scaling: readScaling(workload, scalers) }));
}

const isKnative = (manifest: LocatedMap): boolean =>
  textAt(manifest, 'apiVersion') === 'serving.knative.dev/v1';

/**
 * A core Service is how a Deployment is reached. Here it is reached by its name, so the Service's must be
 * the same, and it must select the Deployment's pods as on a cluster.
 */
function checkCoreServices(
  manifests: readonly LocatedMap[],
  deployments: readonly WorkloadManifest[],
): void {
  for (const manifest of ofKind(manifests, 'Service')) {
    if (isKnative(manifest)) continue;
    const name = nameOf(manifest);
    const deployment = deployments.find(
      (one) => one.name === name && one.namespace === namespaceOf(manifest),
    );
    if (deployment === undefined) {
      throw manifestError(manifest.at, `there is no Deployment "${name}" behind this Service`);
    }
    const selector = nodeAt(manifest, 'spec', 'selector');
    const wanted = Object.entries(readLabels(selector));
    const selects = ([label, value]: [string, string]) => deployment.podLabels[label] === value;
    if (wanted.length === 0 || !wanted.every(selects)) {
      const detail = `its selector does not select the pods of the Deployment ${name}`;
      throw manifestError(selector?.at ?? manifest.at, detail);
    }
  }
}

/** What scales nothing is a mistake that only shows as a stage that does not scale. */
function checkTargets(scalers: Scalers, deployments: readonly WorkloadManifest[]): void {
  const check = (scaler: LocatedMap, reference: LocatedNode): void => {
    const name = textAt(reference, 'name');
    const namespace = namespaceOf(scaler);
    // A scaler's reference has no namespace: it reaches what is in its own.
    if (deployments.some((one) => one.name === name && one.namespace === namespace)) return;
    const detail = `there is no Deployment "${name ?? ''}" to scale in the namespace ${namespace}`;
    throw manifestError(nodeAt(reference, 'name')?.at ?? reference.at, detail);
  };
  for (const manifest of [...scalers.autoscalers, ...scalers.scaledObjects]) {
    const target = nodeAt(manifest, 'spec', 'scaleTargetRef') ?? manifest;
    // KEDA takes a Deployment where it is told nothing else.
    const kind = textAt(target, 'kind') ?? 'Deployment';
    if (kind !== 'Deployment') {
      throw manifestError(target.at, `only a Deployment can be scaled from outside, not a ${kind}`);
    }
    check(manifest, target);
  }
  const { nodeScaler } = scalers;
  if (nodeScaler === undefined) return;
  const services = nodeAt(nodeScaler, 'spec', 'services');
  if (services?.kind !== 'list') return;
  for (const item of services.items) check(nodeScaler, item);
}

/** Checks a Trigger that is applied at run time, given as a plain object. */
export function checkTrigger(trigger: object): PlainManifest {
  const place = { file: 'applied Trigger', line: 1 };
  const [document] = parseYaml(JSON.stringify(trigger), place.file);
  if (document?.kind !== 'map') throw manifestError(place, 'a Trigger is a map');
  if (textAt(document, 'kind') !== 'Trigger') throw manifestError(place, 'this is no Trigger');
  if (textAt(document, 'metadata', 'name') === undefined) {
    throw manifestError(place, 'the Trigger has no metadata.name');
  }
  checkFields(document, FIELD_TABLE);
  return plainManifest(document);
}

const ofKind = (manifests: readonly LocatedMap[], kind: string): LocatedMap[] =>
  manifests.filter((manifest) => textAt(manifest, 'kind') === kind);

// The fields were checked against the table just before; name and kind are known to be text.
const plainManifest = (manifest: LocatedMap): PlainManifest =>
  plainValue(manifest) as unknown as PlainManifest;

/** A Broker's ConfigMap holds a second document as text: checked like the first. */
function checkChannel(manifest: LocatedMap): string[] {
  const node = nodeAt(manifest, 'data', 'channelTemplateSpec');
  const text = textAt(manifest, 'data', 'channelTemplateSpec');
  if (node === undefined) return [];
  const [channel, second] = parseYaml(text ?? '', node.at.file, node.at.line + 1);
  if (channel?.kind !== 'map' || second !== undefined) {
    throw manifestError(node.at, 'channelTemplateSpec holds exactly one channel template');
  }
  return checkFields(channel, CHANNEL_TABLE);
}

import { checkFields } from './check-fields.ts';
import { CHANNEL_TABLE, FIELD_TABLE } from './field-table.ts';
import { buildKustomization } from './kustomize.ts';
import { nodeAt, plainValue, textAt, type LocatedMap, type PlainValue } from './located-node.ts';
import { manifestError } from './manifest-error.ts';
import { manifestFiles } from './manifest-files.ts';
import { parseYaml } from './parse-yaml.ts';
import { readService, type ServiceManifest } from './service-manifest.ts';

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

/** Everything the local cluster runs, as the YAML describes it. */
export interface PipelineManifests {
  readonly services: readonly ServiceManifest[];
  readonly brokers: readonly PlainManifest[];
  readonly triggers: readonly PlainManifest[];
  readonly sinkBindings: readonly PlainManifest[];
  readonly pingSources: readonly PlainManifest[];
  readonly configMaps: readonly PlainManifest[];
  readonly secrets: readonly PlainManifest[];
  /** `Kind field.path` of fields that a cluster acts on and the local cluster does not, sorted. */
  readonly inertFields: readonly string[];
}

/** Reads and checks an overlay. `folder` is relative to `root`; throws MANIFEST_INVALID. */
export async function readPipeline(root: string, folder: string): Promise<PipelineManifests> {
  const files = await manifestFiles(root);
  const manifests = await buildKustomization(files, folder);
  const inert = new Set<string>();
  for (const manifest of manifests) {
    for (const field of checkFields(manifest, FIELD_TABLE)) inert.add(field);
    for (const field of checkChannel(manifest)) inert.add(field);
  }
  const services = ofKind(manifests, 'Service').map(readService);
  for (const service of services) await files.resolve('', service.entry, service.at);
  const plain = (kind: string): PlainManifest[] => ofKind(manifests, kind).map(plainManifest);
  return {
    services,
    brokers: plain('Broker'),
    triggers: plain('Trigger'),
    sinkBindings: plain('SinkBinding'),
    pingSources: plain('PingSource'),
    configMaps: plain('ConfigMap'),
    secrets: plain('Secret'),
    inertFields: [...inert].sort(),
  };
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

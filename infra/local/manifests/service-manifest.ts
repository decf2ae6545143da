import { nodeAt, textAt, type LocatedMap, type LocatedNode, type Place } from './located-node.ts';
import { manifestError } from './manifest-error.ts';

/** The annotation that names the program a Service runs, by its path in the repository. */
export const ENTRY_ANNOTATION = 'tachograph.io/entry';
const MIN_SCALE = 'autoscaling.knative.dev/min-scale';
const MAX_REPLICAS = 64;

export type EnvironmentVariable =
  | { readonly name: string; readonly value: string; readonly at: Place }
  | {
      readonly name: string;
      readonly from: {
        readonly kind: 'ConfigMap' | 'Secret';
        readonly name: string;
        readonly key: string;
        /** Without the key the variable is left out. */
        readonly optional: boolean;
      };
      readonly at: Place;
    };

/** What the local cluster acts on of a Knative Service. */
export interface ServiceManifest {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly entry: string;
  readonly replicas: number;
  /** Requests one replica works on at once; 0: no limit of its own. */
  readonly containerConcurrency: number;
  /** Longest wait for the beginning of an answer. */
  readonly timeoutMs: number;
  readonly env: readonly EnvironmentVariable[];
  readonly at: Place;
}

/** Knative's own defaults: no concurrency limit, 300 s. */
const DEFAULT_CONCURRENCY = 0;
const DEFAULT_TIMEOUT_S = 300;

/** Reads a Service whose fields have been checked; throws MANIFEST_INVALID with file and line. */
export function readService(manifest: LocatedMap): ServiceManifest {
  const name = nameOf(manifest);
  const entry = textAt(manifest, 'metadata', 'annotations', ENTRY_ANNOTATION);
  if (entry === undefined) {
    const detail = `the Service has no annotation ${ENTRY_ANNOTATION} with the program to run`;
    throw manifestError(manifest.at, detail);
  }
  const spec = nodeAt(manifest, 'spec', 'template', 'spec');
  const containers = spec === undefined ? undefined : nodeAt(spec, 'containers');
  if (spec === undefined || containers?.kind !== 'list' || containers.items.length !== 1) {
    throw manifestError(containers?.at ?? manifest.at, 'a Service needs exactly one container');
  }
  const [container] = containers.items;
  const environment = container === undefined ? undefined : nodeAt(container, 'env');
  return {
    name,
    namespace: textAt(manifest, 'metadata', 'namespace') ?? 'default',
    labels: readLabels(nodeAt(manifest, 'metadata', 'labels')),
    entry,
    replicas: readReplicas(manifest),
    containerConcurrency: integerAt(spec, 'containerConcurrency', DEFAULT_CONCURRENCY, 0, 1_000),
    timeoutMs: integerAt(spec, 'timeoutSeconds', DEFAULT_TIMEOUT_S, 1, 600) * 1_000,
    env: environment?.kind === 'list' ? environment.items.map(readVariable) : [],
    at: manifest.at,
  };
}

/** A Kubernetes name (RFC 1123 label): it becomes a host name, a path segment and a file name. */
export function nameOf(manifest: LocatedNode): string {
  const name = textAt(manifest, 'metadata', 'name') ?? '';
  if (/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(name)) return name;
  const at = nodeAt(manifest, 'metadata', 'name')?.at ?? manifest.at;
  throw manifestError(at, `the name "${name}" must be 1 to 63 of a-z, 0-9 and "-"`);
}

export function readLabels(node: LocatedNode | undefined): Record<string, string> {
  const labels: Record<string, string> = {};
  if (node?.kind !== 'map') return labels;
  for (const [name, value] of node.entries) {
    if (value.kind !== 'scalar' || typeof value.value !== 'string') {
      throw manifestError(value.at, `the label ${name} must be text`);
    }
    labels[name] = value.value;
  }
  return labels;
}

/** The local cluster keeps the minimum; a Service that could go to zero keeps one replica. */
function readReplicas(manifest: LocatedMap): number {
  const node = nodeAt(manifest, 'spec', 'template', 'metadata', 'annotations', MIN_SCALE);
  if (node === undefined) return 1;
  // Annotations are text in Kubernetes: a bare number is refused by a cluster, and so here.
  const value = node.kind === 'scalar' && typeof node.value === 'string' ? node.value : '';
  if (!/^\d{1,3}$/.test(value) || Number(value) > MAX_REPLICAS) {
    throw manifestError(node.at, `${MIN_SCALE} must be text from "0" to "${MAX_REPLICAS}"`);
  }
  return Math.max(1, Number(value));
}

function integerAt(
  node: LocatedNode,
  field: string,
  fallback: number,
  min: number,
  max: number,
): number {
  const found = nodeAt(node, field);
  if (found === undefined) return fallback;
  const value = found.kind === 'scalar' ? found.value : null;
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) {
    return value;
  }
  const detail = `${field} is ${JSON.stringify(value)}; it must be an integer from ${min} to ${max}`;
  throw manifestError(found.at, detail);
}

function readVariable(node: LocatedNode): EnvironmentVariable {
  const name = textAt(node, 'name') ?? '';
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(name)) {
    throw manifestError(node.at, `"${name}" is not a name of an environment variable`);
  }
  const { at } = node;
  const value = nodeAt(node, 'value');
  const from = nodeAt(node, 'valueFrom');
  if (value !== undefined && from === undefined) {
    const text = textAt(node, 'value');
    if (text === undefined) throw manifestError(value.at, `the value of ${name} must be text`);
    return { name, value: text, at };
  }
  const kinds = [
    ['configMapKeyRef', 'ConfigMap'],
    ['secretKeyRef', 'Secret'],
  ] as const;
  for (const [field, kind] of kinds) {
    const reference = from === undefined ? undefined : nodeAt(from, field);
    if (reference === undefined) continue;
    const refName = textAt(reference, 'name');
    const key = textAt(reference, 'key');
    if (refName === undefined || key === undefined) {
      throw manifestError(reference.at, `${field} needs a name and a key`);
    }
    const optional = readFlag(reference, 'optional');
    return { name, from: { kind, name: refName, key, optional }, at };
  }
  throw manifestError(at, `${name} needs a value, a configMapKeyRef or a secretKeyRef`);
}

function readFlag(node: LocatedNode, field: string): boolean {
  const found = nodeAt(node, field);
  if (found === undefined) return false;
  if (found.kind === 'scalar' && typeof found.value === 'boolean') return found.value;
  throw manifestError(found.at, `${field} must be true or false`);
}

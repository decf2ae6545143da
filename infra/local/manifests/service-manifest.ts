import { readEnvironment, type EnvironmentVariable } from './environment-variables.ts';
import { nodeAt, textAt, type LocatedMap, type LocatedNode, type Place } from './located-node.ts';
import { manifestError } from './manifest-error.ts';
import { readResources, type ResourceQuantities } from './quantities.ts';

/** The annotation that names the program a workload runs, by its path in the repository. */
export const ENTRY_ANNOTATION = 'tachograph.io/entry';
/** An artificial delay of a replica's start: an amount of a demand, such as `lognormal(mean=1.2s,cv=0.3)`. */
const START_DELAY_ANNOTATION = 'tachograph.io/start-delay';

/** What the local cluster acts on of a Knative Service or a Deployment, but for its scaling. */
export interface WorkloadManifest {
  readonly kind: 'Service' | 'Deployment';
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Of its replicas: what a core Service selects by. */
  readonly podLabels: Readonly<Record<string, string>>;
  readonly entry: string;
  /** Requests one replica works on at once; 0: no limit of its own. A Deployment has none. */
  readonly containerConcurrency: number;
  /** Of a whole request, waiting included. */
  readonly timeoutMs: number;
  /** From the wish to remove a replica to its end by force. */
  readonly terminationGraceMs: number;
  readonly startDelay: string | null;
  readonly resources: ResourceQuantities;
  /** A Deployment's own number of replicas; null: not given. */
  readonly replicas: number | null;
  readonly env: readonly EnvironmentVariable[];
  /** The object itself: what scales it is read from there. */
  readonly node: LocatedMap;
  readonly at: Place;
}

/** Knative's own defaults: no concurrency limit, 300 s. */
const DEFAULT_CONCURRENCY = 0;
const DEFAULT_TIMEOUT_S = 300;
/** Kubernetes' default for a pod. */
const DEFAULT_GRACE_S = 30;
const MAX_REPLICAS = 256;

/** Reads a Knative Service whose fields have been checked; throws MANIFEST_INVALID with file and line. */
export function readService(manifest: LocatedMap): WorkloadManifest {
  const { spec, ...common } = readCommon(manifest, 'Service');
  const timeoutMs = integerAt(spec, 'timeoutSeconds', DEFAULT_TIMEOUT_S, 1, 600) * 1_000;
  return {
    ...common,
    containerConcurrency: integerAt(spec, 'containerConcurrency', DEFAULT_CONCURRENCY, 0, 1_000),
    timeoutMs,
    // Knative gives a revision's pods their request time to end.
    terminationGraceMs: timeoutMs,
    replicas: null,
  };
}

/** Reads a Deployment whose fields have been checked; throws MANIFEST_INVALID with file and line. */
export function readDeployment(manifest: LocatedMap): WorkloadManifest {
  const { spec, ...common } = readCommon(manifest, 'Deployment');
  const own = nodeAt(manifest, 'spec');
  const replicas = own === undefined ? undefined : nodeAt(own, 'replicas');
  const graceS = integerAt(spec, 'terminationGracePeriodSeconds', DEFAULT_GRACE_S, 1, 600);
  refuseOtherSelector(manifest, common.podLabels);
  return {
    ...common,
    containerConcurrency: 0,
    // Nothing in a Deployment's path ends a request but its caller.
    timeoutMs: 600_000,
    terminationGraceMs: graceS * 1_000,
    replicas:
      own === undefined || replicas === undefined
        ? null
        : integerAt(own, 'replicas', 1, 0, MAX_REPLICAS),
  };
}

type Common = Omit<
  WorkloadManifest,
  'containerConcurrency' | 'timeoutMs' | 'terminationGraceMs' | 'replicas'
> & { readonly spec: LocatedNode };

function readCommon(manifest: LocatedMap, kind: WorkloadManifest['kind']): Common {
  const name = nameOf(manifest);
  const annotations = readLabels(nodeAt(manifest, 'metadata', 'annotations'), 'annotation');
  const entry = annotations[ENTRY_ANNOTATION];
  if (entry === undefined) {
    const detail = `the ${kind} has no annotation ${ENTRY_ANNOTATION} with the program to run`;
    throw manifestError(manifest.at, detail);
  }
  const spec = nodeAt(manifest, 'spec', 'template', 'spec');
  const containers = spec === undefined ? undefined : nodeAt(spec, 'containers');
  if (spec === undefined || containers?.kind !== 'list' || containers.items.length !== 1) {
    throw manifestError(containers?.at ?? manifest.at, `a ${kind} needs exactly one container`);
  }
  const [container] = containers.items;
  const labels = readLabels(nodeAt(manifest, 'metadata', 'labels'));
  return {
    kind,
    name,
    namespace: namespaceOf(manifest),
    labels,
    podLabels: readLabels(nodeAt(manifest, 'spec', 'template', 'metadata', 'labels')),
    entry,
    startDelay: annotations[START_DELAY_ANNOTATION] ?? null,
    resources: readResources(container),
    env: readEnvironment(container === undefined ? undefined : nodeAt(container, 'env')),
    node: manifest,
    at: manifest.at,
    spec,
  };
}

/** A cluster refuses a Deployment whose selector does not select its own pods. */
function refuseOtherSelector(
  manifest: LocatedMap,
  podLabels: Readonly<Record<string, string>>,
): void {
  const selector = nodeAt(manifest, 'spec', 'selector', 'matchLabels');
  const wanted = Object.entries(readLabels(selector));
  if (wanted.length > 0 && wanted.every(([name, value]) => podLabels[name] === value)) return;
  const detail = 'spec.selector.matchLabels must be some of the labels of spec.template';
  throw manifestError(selector?.at ?? manifest.at, detail);
}

/** A Kubernetes name (RFC 1123 label): it becomes a host name, a path segment and a file name. */
export function nameOf(manifest: LocatedNode): string {
  const name = textAt(manifest, 'metadata', 'name') ?? '';
  if (/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(name)) return name;
  const at = nodeAt(manifest, 'metadata', 'name')?.at ?? manifest.at;
  throw manifestError(at, `the name "${name}" must be 1 to 63 of a-z, 0-9 and "-"`);
}

export const namespaceOf = (manifest: LocatedNode): string =>
  textAt(manifest, 'metadata', 'namespace') ?? 'default';

/** Labels, annotations or a ConfigMap's keys: names and texts. */
export function readLabels(
  node: LocatedNode | undefined,
  what: 'label' | 'annotation' | 'key' = 'label',
): Record<string, string> {
  const labels: Record<string, string> = {};
  if (node?.kind !== 'map') return labels;
  for (const [name, value] of node.entries) {
    // A bare number is refused by a cluster, and so here.
    if (value.kind !== 'scalar' || typeof value.value !== 'string') {
      throw manifestError(value.at, `the ${what} ${name} must be text; put it in quotes`);
    }
    labels[name] = value.value;
  }
  return labels;
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

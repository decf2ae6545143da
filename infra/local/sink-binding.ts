import type { BrokerKey } from '#eventing/broker/broker-names.ts';
import { TachographError } from '#kernel/core/errors.ts';
import { plainText, type PlainValue } from './manifests/located-node.ts';
import type { PlainManifest } from './manifests/pipeline-manifests.ts';
import type { WorkloadManifest } from './manifests/service-manifest.ts';

/** Where a Broker takes events; undefined for one that is not there. */
export type BrokerUrl = (broker: BrokerKey) => string | undefined;

type PlainMap = { readonly [name: string]: PlainValue | undefined };

const mapOf = (value: PlainValue | undefined): PlainMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as PlainMap) : {};

/** As much of a workload as a SinkBinding looks at. */
export type Bound = Pick<WorkloadManifest, 'kind' | 'name' | 'namespace' | 'labels'>;

/** Does the SinkBinding's subject select this workload? By kind, and by name, or by every label it asks for. */
export function bindsService(binding: PlainManifest, service: Bound): boolean {
  const subject = mapOf(binding.spec?.['subject']);
  const namespace = subject['namespace'] ?? binding.metadata.namespace ?? 'default';
  if (subject['kind'] !== service.kind || namespace !== service.namespace) return false;
  if (subject['name'] !== undefined) return subject['name'] === service.name;
  const wanted = Object.entries(mapOf(mapOf(subject['selector'])['matchLabels']));
  // A selector without terms would bind everything; Knative refuses it, here it binds nothing.
  return wanted.length > 0 && wanted.every(([label, value]) => service.labels[label] === value);
}

/** The sink of a SinkBinding or PingSource: a Broker by reference, or a URI as it stands. */
export function sinkUrl(manifest: PlainManifest, brokerUrl: BrokerUrl): string {
  const sink = mapOf(manifest.spec?.['sink']);
  if (typeof sink['uri'] === 'string') return sink['uri'];
  const ref = mapOf(sink['ref']);
  const name = plainText(ref['name']) ?? '';
  const namespace = plainText(ref['namespace']) ?? manifest.metadata.namespace ?? 'default';
  const url = ref['kind'] === 'Broker' ? brokerUrl({ namespace, name }) : undefined;
  if (url !== undefined) return url;
  const at = `${manifest.kind} ${manifest.metadata.name}`;
  const kind = plainText(ref['kind']) ?? 'no kind';
  const detail = `its sink (${kind} "${name}") is no known Broker`;
  throw new TachographError('MANIFEST_INVALID', { at, detail });
}

/** The K_SINK of a Service; two bindings that select the same one are a fault. */
export function serviceSink(
  service: Bound,
  bindings: readonly PlainManifest[],
  brokerUrl: BrokerUrl,
): string | undefined {
  const [binding, second] = bindings.filter((candidate) => bindsService(candidate, service));
  if (second !== undefined) {
    const at = `SinkBinding ${second.metadata.name}`;
    const detail = `it binds ${service.name}, as ${binding?.metadata.name ?? ''} does already`;
    throw new TachographError('MANIFEST_INVALID', { at, detail });
  }
  return binding === undefined ? undefined : sinkUrl(binding, brokerUrl);
}

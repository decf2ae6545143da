import { manifestError } from './manifests/manifest-error.ts';
import type { PlainManifest } from './manifests/pipeline-manifests.ts';
import type { WorkloadManifest } from './manifests/service-manifest.ts';

/** name → key → value. */
export type KeyedValues = Readonly<Record<string, Readonly<Record<string, string>>>>;

export interface ValueSources {
  readonly configMaps: KeyedValues;
  readonly secrets: KeyedValues;
}

/** What is given wins over what the YAML says, key by key. Secrets' `data` is base64, as in Kubernetes. */
export function mergeSources(
  configMaps: readonly PlainManifest[],
  secrets: readonly PlainManifest[],
  given: ValueSources,
): ValueSources {
  const merged = (
    manifests: readonly PlainManifest[],
    read: (manifest: PlainManifest) => Record<string, string>,
    over: KeyedValues,
  ): KeyedValues => {
    const result: Record<string, Record<string, string>> = {};
    for (const manifest of manifests) result[manifest.metadata.name] = read(manifest);
    for (const [name, values] of Object.entries(over)) {
      result[name] = { ...result[name], ...values };
    }
    return result;
  };
  const decoded = (data: Readonly<Record<string, string>> = {}): Record<string, string> =>
    Object.fromEntries(
      Object.entries(data).map(([key, text]) => [key, Buffer.from(text, 'base64').toString()]),
    );
  return {
    configMaps: merged(configMaps, (manifest) => ({ ...manifest.data }), given.configMaps),
    secrets: merged(
      secrets,
      (manifest) => ({ ...decoded(manifest.data), ...manifest.stringData }),
      given.secrets,
    ),
  };
}

/**
 * The variables of one Service: its own, with references looked up, then what the platform sets
 * (PORT, K_SERVICE, K_SINK). Throws MANIFEST_INVALID where a reference leads nowhere and is not optional.
 */
export function serviceEnvironment(
  service: Pick<WorkloadManifest, 'name' | 'env'>,
  sources: ValueSources,
  sink: string | undefined,
): Record<string, string> {
  const env: Record<string, string> = {};
  for (const variable of service.env) {
    if ('value' in variable) {
      env[variable.name] = variable.value;
      continue;
    }
    const { kind, name, key, optional } = variable.from;
    const value = (kind === 'ConfigMap' ? sources.configMaps : sources.secrets)[name]?.[key];
    if (value === undefined) {
      if (optional) continue;
      throw manifestError(variable.at, `there is no ${kind} "${name}" with the key "${key}"`);
    }
    env[variable.name] = value;
  }
  return {
    ...env,
    PORT: '0',
    K_SERVICE: service.name,
    ...(sink === undefined ? {} : { K_SINK: sink }),
  };
}

import { parseChannelTemplate, type ChannelSettings } from '#eventing/dispatch/channel-template.ts';
import { TachographError } from '#kernel/core/errors.ts';
import type { PlainManifest } from './manifests/pipeline-manifests.ts';
import type { KeyedValues } from './service-environment.ts';

/**
 * What the Brokers' ConfigMap says about their streams. The Brokers of one local cluster share it;
 * without one, the broker's own defaults hold.
 */
export function channelSettings(
  brokers: readonly PlainManifest[],
  configMaps: KeyedValues,
): ChannelSettings {
  const names = new Set(brokers.map(configName));
  const [name, second] = names;
  if (second !== undefined || names.size > 1) {
    const at = `Broker ${brokers[1]?.metadata.name ?? ''}`;
    const detail = 'all Brokers of a local cluster have the same spec.config';
    throw new TachographError('MANIFEST_INVALID', { at, detail });
  }
  if (name === undefined) return { limits: {} };
  const text = configMaps[name]?.['channelTemplateSpec'];
  if (text === undefined) {
    const at = `Broker ${brokers[0]?.metadata.name ?? ''}`;
    const detail = `there is no ConfigMap "${name}" with the key "channelTemplateSpec"`;
    throw new TachographError('MANIFEST_INVALID', { at, detail });
  }
  return parseChannelTemplate(text);
}

function configName(broker: PlainManifest): string | undefined {
  const config = broker.spec?.['config'];
  if (typeof config !== 'object' || config === null || Array.isArray(config)) return undefined;
  const { name } = config as { readonly name?: unknown };
  return typeof name === 'string' ? name : undefined;
}

import {
  parseConfigAutoscaler,
  type AutoscalerConfig,
} from '#infra/autoscaling/knative-config/config-autoscaler.ts';
import { nodeAt, textAt, type LocatedMap } from './located-node.ts';
import { manifestError, throwFaults } from './manifest-error.ts';
import { readLabels } from './service-manifest.ts';

const NAME = 'config-autoscaler';
const NAMESPACE = 'knative-serving';

/** The ConfigMap `config-autoscaler`, or Knative's defaults; throws MANIFEST_INVALID at the keys. */
export function readAutoscalerConfig(configMaps: readonly LocatedMap[]): AutoscalerConfig {
  const named = configMaps.filter((one) => textAt(one, 'metadata', 'name') === NAME);
  for (const one of named) {
    if (textAt(one, 'metadata', 'namespace') === NAMESPACE) continue;
    throw manifestError(one.at, `Knative reads ${NAME} only in the namespace ${NAMESPACE}`);
  }
  // Of one namespace and name there is at most one: the build refuses twins.
  const [manifest] = named;
  const data = manifest === undefined ? undefined : nodeAt(manifest, 'data');
  const at = manifest?.at ?? { file: NAME, line: 1 };
  const parsed = parseConfigAutoscaler(readLabels(data, 'key'));
  throwFaults(
    parsed.faults.map(({ key, message }) => {
      const node = data === undefined ? undefined : nodeAt(data, key);
      return { at: node?.at ?? at, message };
    }),
  );
  return parsed.value as AutoscalerConfig;
}

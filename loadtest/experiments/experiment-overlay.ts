import { stringify } from 'yaml';
import { policyText, type Experiment, type PolicyChoice } from './experiment.ts';
import { policyPatches } from './policy-patches.ts';
import { stagePatches } from './stage-patches.ts';

/**
 * Where the overlay of an experiment lies: beside the others, so that its references hold on a disk too.
 * The local cluster gets it as virtual files, the result folder keeps a copy.
 */
export const EXPERIMENT_OVERLAY = 'infra/kubernetes/overlays/experiment';

/** The kustomization that an experiment is laid over. */
const BASE_OVERLAY = '../local';

/** Components of infra/kubernetes that make the stages what a policy scales. */
const COMPONENTS: Readonly<Partial<Record<PolicyChoice['kind'], readonly string[]>>> = {
  hpa: ['scale-hpa'],
  keda: ['as-deployments', 'scale-keda'],
  node: ['as-deployments', 'scale-node'],
};

/**
 * An experiment as a kustomization over the repository's manifests: text by path, for `kubectl apply -k`
 * as for the local cluster. Demands are no part of it: they are keys of the ConfigMap `tachograph`.
 */
export function experimentOverlay(experiment: Experiment): Readonly<Record<string, string>> {
  const { name, arm } = experiment;
  const own = [policyPatches(experiment), stagePatches(experiment)];
  // What a stage says for itself is stronger than what the policy says for all; only the bounds of a
  // fixed number are the policy itself.
  const patches = (arm.policy.kind === 'fixed' ? own.toReversed() : own).flat();
  const components = COMPONENTS[arm.policy.kind] ?? [];
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: [BASE_OVERLAY],
    ...(components.length === 0
      ? {}
      : { components: components.map((component) => `../../components/${component}`) }),
    ...(patches.length === 0
      ? {}
      : { patches: patches.map(({ file, target }) => ({ target, path: `${file}.yaml` })) }),
  };
  const head = `# Written by "tachograph run": the experiment ${name} with the policy ${policyText(arm.policy)}.\n`;
  const files: Record<string, string> = {
    [`${EXPERIMENT_OVERLAY}/kustomization.yaml`]: head + stringify(kustomization),
  };
  for (const { file, operations } of patches) {
    files[`${EXPERIMENT_OVERLAY}/${file}.yaml`] = stringify(operations);
  }
  return files;
}

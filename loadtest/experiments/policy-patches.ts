import { STAGE_NAMES, type StageName } from '#eventing/contracts/catalog.ts';
import { unreachable } from '#kernel/core/assert.ts';
import {
  add,
  annotationOperations,
  isEventStage,
  isKnative,
  pathPart,
  workloadTarget,
  type Patch,
  type PatchOperation,
} from './overlay-patch.ts';
import type { Experiment, KnativeSettings, PolicySettings, Texts } from './experiment.ts';

const DEFAULT_FIXED_REPLICAS = 1;
const DEFAULT_SCHEDULE = '0s=1';

/** The settings of the experiment's policy, at the objects that hold them. */
export function policyPatches(experiment: Experiment): Patch[] {
  const { policies, arm } = experiment;
  const { policy } = arm;
  switch (policy.kind) {
    case 'kpa':
    case 'hpa':
      return knativePatches(experiment, policies[policy.kind]);
    case 'keda':
      return [...kedaPatches(policies.keda), ...knativePatches(experiment, policies.kpa)];
    case 'node':
      return [
        ...patchOf('node-scaler', 'NodeScaler', fieldOperations(policies.node?.nodeScaler ?? {})),
        ...knativePatches(experiment, policies.kpa),
      ];
    case 'fixed':
      return eachStage(experiment, (stage) => fixedAnnotations(experiment, stage));
    case 'schedule': {
      const { replicas = DEFAULT_SCHEDULE, stages = {} } = policies.schedule ?? {};
      return eachStage(experiment, (stage) => ({
        'tachograph.io/schedule': stages[stage] ?? replicas,
      }));
    }
    case 'custom': {
      const { stages } = policies.custom ?? {};
      const isScaled = (stage: StageName): boolean =>
        stages === undefined ? isEventStage(stage) : stages.includes(stage);
      return [
        ...eachStage(experiment, (stage) =>
          isScaled(stage) ? customAnnotations(policy.module, policies.custom) : {},
        ),
        ...knativePatches(experiment, policies.kpa, (stage) => !isScaled(stage)),
      ];
    }
    default:
      return unreachable(policy);
  }
}

/** Annotations of stages that are Services, and keys of the autoscaler's ConfigMap. */
function knativePatches(
  experiment: Experiment,
  settings: KnativeSettings = {},
  isMeant: (stage: StageName) => boolean = () => true,
): Patch[] {
  const { annotations = {}, stages = {}, configAutoscaler = {} } = settings;
  const { policy } = experiment.arm;
  const data = Object.entries(configAutoscaler).map(([key, value]) =>
    add(`/data/${pathPart(key)}`, value),
  );
  return [
    ...eachStage(
      experiment,
      (stage) =>
        isKnative(stage, policy) && isMeant(stage) ? { ...annotations, ...stages[stage] } : {},
      policy.kind === 'hpa' ? 'hpa' : 'kpa',
    ),
    ...patchOf('config-autoscaler', 'ConfigMap', data, 'config-autoscaler'),
  ];
}

function eachStage(
  experiment: Experiment,
  of: (stage: StageName) => Texts,
  prefix: string = experiment.arm.policy.kind,
): Patch[] {
  const { policy } = experiment.arm;
  return STAGE_NAMES.flatMap((stage): Patch[] => {
    const operations = annotationOperations(of(stage), isKnative(stage, policy));
    if (operations.length === 0) return [];
    return [{ file: `${prefix}-${stage}`, target: workloadTarget(stage, policy), operations }];
  });
}

function kedaPatches(settings: PolicySettings['keda']): Patch[] {
  const { annotations = {}, scaledObject = {}, trigger = {} } = settings ?? {};
  return patchOf('scaled-objects', 'ScaledObject', [
    // The objects of the component have none.
    ...(Object.keys(annotations).length === 0 ? [] : [add('/metadata/annotations', annotations)]),
    ...fieldOperations(scaledObject),
    ...Object.entries(trigger).map(([key, value]) =>
      add(`/spec/triggers/0/metadata/${pathPart(key)}`, value),
    ),
  ]);
}

const fieldOperations = (fields: Readonly<Record<string, unknown>>): PatchOperation[] =>
  Object.entries(fields).map(([key, value]) => add(`/spec/${pathPart(key)}`, value));

function patchOf(
  file: string,
  kind: string,
  operations: readonly PatchOperation[],
  name?: string,
): Patch[] {
  if (operations.length === 0) return [];
  return [{ file, target: { kind, ...(name === undefined ? {} : { name }) }, operations }];
}

/** From its creation on, and never another number. */
function fixedAnnotations({ stages, policies }: Experiment, stage: StageName): Texts {
  const replicas = String(
    stages[stage]?.replicas ?? policies.fixed?.replicas ?? DEFAULT_FIXED_REPLICAS,
  );
  return {
    'autoscaling.knative.dev/initial-scale': replicas,
    'autoscaling.knative.dev/min-scale': replicas,
    'autoscaling.knative.dev/max-scale': replicas,
  };
}

function customAnnotations(module: string, settings: PolicySettings['custom']): Texts {
  const { config, periodS } = settings ?? {};
  return {
    'tachograph.io/policy': module,
    ...(config === undefined ? {} : { 'tachograph.io/policy-config': JSON.stringify(config) }),
    ...(periodS === undefined ? {} : { 'tachograph.io/policy-period': `${periodS}s` }),
  };
}

import { STAGE_NAMES, type StageName } from '#eventing/contracts/catalog.ts';
import {
  add,
  annotationOperations,
  isKnative,
  pathPart,
  workloadTarget,
  type Patch,
  type PatchOperation,
} from './overlay-patch.ts';
import type { Experiment, StageSettings } from './experiment.ts';

/** What an experiment changes of its stages, whatever the policy. */
export function stagePatches({ stages, arm }: Experiment): Patch[] {
  return STAGE_NAMES.flatMap((stage): Patch[] => {
    const settings = stages[stage];
    if (settings === undefined) return [];
    const operations = stageOperations(settings, isKnative(stage, arm.policy));
    const { maxInFlight } = settings;
    return [
      ...(operations.length === 0
        ? []
        : [{ file: stage, target: workloadTarget(stage, arm.policy), operations }]),
      ...(maxInFlight === undefined ? [] : [inFlightPatch(stage, maxInFlight)]),
    ];
  });
}

function stageOperations(
  { annotations = {}, resources = {}, containerConcurrency }: StageSettings,
  knative: boolean,
): PatchOperation[] {
  const { cpuRequest, cpuLimit, memoryRequest, memoryLimit } = resources;
  const quantities: readonly (readonly [string, string | undefined])[] = [
    ['requests/cpu', milliText(cpuRequest)],
    ['requests/memory', memoryRequest],
    ['limits/cpu', milliText(cpuLimit)],
    ['limits/memory', memoryLimit],
  ];
  return [
    ...annotationOperations(annotations, knative),
    ...quantities.flatMap(([path, value]) =>
      value === undefined ? [] : [add(`/spec/template/spec/containers/0/resources/${path}`, value)],
    ),
    // A Deployment has no such limit: that is part of what is compared.
    ...(containerConcurrency === undefined || !knative
      ? []
      : [add('/spec/template/spec/containerConcurrency', containerConcurrency)]),
  ];
}

/** 0.1 CPU is `100m`. */
const milliText = (cpus: number | undefined): string | undefined =>
  cpus === undefined ? undefined : `${Math.round(cpus * 1_000)}m`;

/** Triggers are named `<event>-<stage>`. */
const inFlightPatch = (stage: StageName, maxInFlight: number): Patch => ({
  file: `triggers-${stage}`,
  target: { group: 'eventing.knative.dev', kind: 'Trigger', name: `.*-${stage}` },
  operations: [
    add(`/metadata/annotations/${pathPart('tachograph.io/max-in-flight')}`, String(maxInFlight)),
  ],
});

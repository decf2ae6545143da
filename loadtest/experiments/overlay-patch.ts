import { CATALOG, STAGE_NAMES, type StageName } from '#eventing/contracts/catalog.ts';
import type { PolicyChoice, Texts } from './experiment.ts';

/** One JSON 6902 patch of a kustomization. */
export interface Patch {
  /** Without its extension. */
  readonly file: string;
  readonly target: {
    readonly group?: string;
    readonly kind: string;
    /** A regular expression for the whole name. */
    readonly name?: string;
  };
  readonly operations: readonly PatchOperation[];
}

export interface PatchOperation {
  readonly op: 'add';
  readonly path: string;
  readonly value: unknown;
}

/** In a map "add" replaces what is there. */
export const add = (path: string, value: unknown): PatchOperation => ({ op: 'add', path, value });

/** RFC 6901: a key as part of a path. */
export const pathPart = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

/** Stages that a Trigger leads to; under policies for Deployments they are Deployments. */
const EVENT_STAGES: readonly StageName[] = STAGE_NAMES.filter((stage) =>
  CATALOG.some(({ route, consumers }) => route === 'broker' && consumers.includes(stage)),
);

export const isEventStage = (stage: StageName): boolean => EVENT_STAGES.includes(stage);

const ON_DEPLOYMENTS: ReadonlySet<PolicyChoice['kind']> = new Set(['keda', 'node']);

/** Whether a stage stays a Knative Service under the policy. */
export const isKnative = (stage: StageName, policy: PolicyChoice): boolean =>
  !ON_DEPLOYMENTS.has(policy.kind) || !isEventStage(stage);

export const workloadTarget = (stage: StageName, policy: PolicyChoice): Patch['target'] =>
  isKnative(stage, policy)
    ? { group: 'serving.knative.dev', kind: 'Service', name: stage }
    : { group: 'apps', kind: 'Deployment', name: stage };

/**
 * Knative's own annotations stand in the template, where each change makes a revision, and mean nothing
 * to a Deployment; the other ones are the object's own.
 */
export const annotationOperations = (annotations: Texts, knative: boolean): PatchOperation[] =>
  Object.entries(annotations).flatMap(([key, value]) => {
    const isKnatives = /^(autoscaling|serving)\.knative\.dev\//.test(key);
    if (isKnatives && !knative) return [];
    const parent = isKnatives ? '/spec/template/metadata' : '/metadata';
    return [add(`${parent}/annotations/${pathPart(key)}`, value)];
  });

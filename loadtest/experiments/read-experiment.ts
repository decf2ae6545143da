import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { nearestNames } from '#kernel/core/nearest-names.ts';
import { plainValue, textAt, type LocatedNode } from '#infra/local/manifests/located-node.ts';
import { parseYaml } from '#infra/local/manifests/parse-yaml.ts';
import { TachographError } from '#kernel/core/errors.ts';
import { parseDemands } from '#kernel/demand/parse-demand.ts';
import {
  experimentError,
  placeOf,
  pathText,
  schemaFaults,
  type ExperimentFault,
} from './experiment-faults.ts';
import schema from './experiment.schema.json' with { type: 'json' };
import { POLICY_NAMES, type Experiment, type PolicyChoice } from './experiment.ts';
import type { Arrivals, ArrivalProcess } from '#loadtest/arrivals/arrival-times.ts';
import type { ExperimentLoad, PolicySettings, StageSettings } from './experiment.ts';

/** Part of the schema of all experiments (design 8) that this version does not run. */
const LATER_KINDS = ['Demo', 'Compare', 'Capacity', 'Replicas', 'Variability', 'Resilience'];
const LATER_FIELDS = ['nodes', 'trials', 'slo'];
const LATER_TARGETS = ['cluster'];

const DEFAULT_VEHICLES = 20;
const DEFAULT_SETTLE_S = 60;

const ajv = new Ajv({ allErrors: true, verbose: true, allowUnionTypes: true });
const validate = ajv.compile(schema);
const validateSettings = (policy: string): ValidateFunction =>
  ajv.compile({ $ref: `${schema.$id}#/definitions/policies/properties/${policy}` });

/** What the schema has allowed. */
interface RawExperiment {
  readonly kind: 'Run';
  readonly name: string;
  readonly question?: string;
  readonly seed?: number;
  readonly pipeline?: { readonly stages?: Readonly<Record<string, StageSettings>> };
  readonly load: {
    readonly profile: 'emulated';
    readonly vehicles?: number;
    readonly arrivals: RawArrivals;
    readonly durationS?: number;
    readonly settleWithinS?: number;
  };
  readonly policies?: PolicySettings;
  readonly arms: readonly [
    { readonly name: string; readonly policy: string; readonly settings?: object },
  ];
}

interface RawArrivals {
  readonly constant?: { readonly ratePerS: number };
  readonly poisson?: { readonly ratePerS: number };
  readonly step?: {
    readonly process?: ArrivalProcess;
    readonly levels: readonly { readonly ratePerS: number; readonly forS: number }[];
  };
}

/**
 * Reads an experiment; `file` is only named. Throws EXPERIMENT_INVALID with file, line and path of what
 * cannot be read, is not known, or belongs to a kind that is not run yet.
 */
export function readExperiment(text: string, file: string): Experiment {
  const root = documentOf(text, file);
  refuseLater(root);
  const value: unknown = plainValue(root);
  if (!validate(value)) {
    throw experimentError(schemaFaults(root, validate.errors ?? [], knownNames));
  }
  const raw = value as unknown as RawExperiment;
  const faults: ExperimentFault[] = [];
  const fault = (tokens: readonly string[], message: string): void => {
    faults.push({ at: placeOf(root, tokens), path: pathText(tokens), message });
  };
  const stages = raw.pipeline?.stages ?? {};
  for (const [stage, { demand }] of Object.entries(stages)) {
    const wrong = demand === undefined ? undefined : demandFault(demand);
    if (wrong !== undefined) fault(['pipeline', 'stages', stage, 'demand'], wrong);
  }
  const [arm] = raw.arms;
  const policy = choosePolicy(arm.policy);
  if (policy === undefined) {
    fault(['arms', '0', 'policy'], `"${arm.policy}" is no policy; ${unknownPolicy(arm.policy)}`);
  }
  const durationMs = durationOf(raw.load);
  if (durationMs === undefined) {
    fault(['load'], '"durationS" is missing: only a step has a duration of its own');
  }
  const settings = policy === undefined ? {} : settingsOf(root, arm.settings, policy, faults);
  if (faults.length > 0 || policy === undefined || durationMs === undefined) {
    throw experimentError(faults);
  }
  return {
    kind: raw.kind,
    name: raw.name,
    question: raw.question ?? null,
    target: 'local',
    seed: raw.seed ?? 1,
    stages,
    load: loadOf(raw.load, durationMs),
    arm: { name: arm.name, policy },
    policies: { ...raw.policies, ...settingsFor(policy, raw.policies, settings) },
  };
}

function documentOf(text: string, file: string): LocatedNode {
  let documents: readonly LocatedNode[];
  try {
    documents = parseYaml(text, file);
  } catch (error) {
    // The same reader as the manifests', whose message has file and line.
    if (!(error instanceof TachographError)) throw error;
    const { at = file, detail = '' } = error.fields;
    throw new TachographError('EXPERIMENT_INVALID', { at, detail }, { cause: error });
  }
  const [root, second] = documents;
  const whole = { at: second?.at ?? { file, line: 1 }, path: '' };
  if (root?.kind !== 'map') throw experimentError([{ ...whole, message: 'a map is needed' }]);
  if (second !== undefined) {
    throw experimentError([{ ...whole, message: 'one document a file' }]);
  }
  return root;
}

/** Before the schema, which would call them unknown. */
function refuseLater(root: LocatedNode): void {
  const refuse = (field: string, what: string): never => {
    throw experimentError([
      {
        at: placeOf(root, [field]),
        path: field,
        message: `${what} not run yet; only Run is, locally`,
      },
    ]);
  };
  const kind = textAt(root, 'kind') ?? '';
  if (LATER_KINDS.includes(kind)) refuse('kind', `${kind} is`);
  const target = textAt(root, 'target') ?? '';
  if (LATER_TARGETS.includes(target)) refuse('target', `${target} is`);
  for (const field of LATER_FIELDS) {
    if (root.kind === 'map' && root.entries.has(field)) refuse(field, 'experiments with it are');
  }
}

/** The names that the schema has where an unknown one stands. */
function knownNames(error: ErrorObject): readonly string[] {
  const parent = error.parentSchema as
    | { properties?: object; enum?: readonly string[] }
    | undefined;
  return parent?.enum ?? Object.keys(parent?.properties ?? {});
}

function demandFault(demand: string): string | undefined {
  try {
    parseDemands(demand);
    return undefined;
  } catch (error) {
    if (error instanceof TachographError) return error.message;
    throw error;
  }
}

/** A name of POLICY_NAMES, or a path; undefined for anything else. */
export function choosePolicy(text: string): PolicyChoice | undefined {
  const kind = POLICY_NAMES.find((name) => name === text);
  if (kind !== undefined) return { kind };
  const isPath = /^[\w./-]+\.(ts|js|mjs)$/.test(text) && !text.startsWith('/');
  return isPath ? { kind: 'custom', module: text.replace(/^\.\//, '') } : undefined;
}

/** What to say of a text that is no policy. */
export function unknownPolicy(text: string): string {
  const [near] = nearestNames(text, POLICY_NAMES, 1);
  if (near !== undefined) return `did you mean ${near}?`;
  return `use ${POLICY_NAMES.join(', ')}, or the path of a policy in the repository`;
}

/** The experiment with another policy, by its settings in the file. */
export const withPolicy = (experiment: Experiment, policy: PolicyChoice): Experiment => ({
  ...experiment,
  arm: { name: policy.kind, policy },
});

function durationOf({ durationS, arrivals }: RawExperiment['load']): number | undefined {
  if (durationS !== undefined) return durationS * 1_000;
  if (arrivals.step === undefined) return undefined;
  return arrivals.step.levels.reduce((sum, { forS }) => sum + forS * 1_000, 0);
}

const loadOf = (load: RawExperiment['load'], durationMs: number): ExperimentLoad => ({
  profile: load.profile,
  vehicles: load.vehicles ?? DEFAULT_VEHICLES,
  arrivals: arrivalsOf(load.arrivals),
  durationMs,
  settleWithinMs: (load.settleWithinS ?? DEFAULT_SETTLE_S) * 1_000,
});

function arrivalsOf({ constant, poisson, step }: RawArrivals): Arrivals {
  if (step === undefined) {
    return poisson === undefined
      ? { kind: 'constant', ratePerS: constant?.ratePerS ?? 0 }
      : { kind: 'poisson', ratePerS: poisson.ratePerS };
  }
  const { process = 'poisson', levels } = step;
  return {
    kind: 'step',
    process,
    levels: levels.map(({ ratePerS, forS }) => ({ ratePerS, forMs: forS * 1_000 })),
  };
}

function settingsOf(
  root: LocatedNode,
  settings: object | undefined,
  { kind }: PolicyChoice,
  faults: ExperimentFault[],
): object {
  if (settings === undefined) return {};
  const check = validateSettings(kind);
  if (check(settings)) return settings;
  const errors = (check.errors ?? []).map((error) => ({
    ...error,
    instancePath: `/arms/0/settings${error.instancePath}`,
  }));
  faults.push(...schemaFaults(root, errors, knownNames));
  return {};
}

const settingsFor = (
  { kind }: PolicyChoice,
  policies: PolicySettings | undefined,
  settings: object,
): PolicySettings => ({ [kind]: { ...policies?.[kind], ...settings } });

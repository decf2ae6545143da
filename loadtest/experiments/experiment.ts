import type { StageName } from '#eventing/contracts/catalog.ts';
import type { Arrivals } from '#loadtest/arrivals/arrival-times.ts';

/** Policies that come with the product; a path names one of the user's own. */
export const POLICY_NAMES = ['kpa', 'hpa', 'keda', 'node', 'fixed', 'schedule'] as const;

/** Demands draw from a seed of at most so many digits. */
export const MAX_EXPERIMENT_SEED = 999_999_999;

export type PolicyName = (typeof POLICY_NAMES)[number];

export type PolicyChoice =
  | { readonly kind: PolicyName }
  /** `module`: path in the repository. */
  | { readonly kind: 'custom'; readonly module: string };

export type Texts = Readonly<Record<string, string>>;

export interface StageResources {
  /** CPUs. */
  readonly cpuRequest?: number;
  readonly cpuLimit?: number;
  /** Kubernetes quantities. */
  readonly memoryRequest?: string;
  readonly memoryLimit?: string;
}

/** What an experiment changes of a stage; absent: as the manifests have it. */
export interface StageSettings {
  readonly demand?: string;
  readonly annotations?: Texts;
  readonly resources?: StageResources;
  readonly replicas?: number;
  readonly containerConcurrency?: number;
  readonly maxInFlight?: number;
}

/** Of Knative Services, whichever class scales them. */
export interface KnativeSettings {
  readonly annotations?: Texts;
  /** Further ones by stage, stronger than those for all. */
  readonly stages?: Readonly<Partial<Record<StageName, Texts>>>;
  readonly configAutoscaler?: Texts;
}

/** Settings by policy, as the experiment gives them. */
export interface PolicySettings {
  /** Also of stages that keep this policy while another one scales the rest. */
  readonly kpa?: KnativeSettings;
  readonly hpa?: KnativeSettings;
  readonly keda?: {
    readonly annotations?: Texts;
    readonly scaledObject?: Readonly<Record<string, unknown>>;
    readonly trigger?: Texts;
  };
  readonly node?: { readonly nodeScaler?: Readonly<Record<string, unknown>> };
  readonly fixed?: { readonly replicas?: number };
  readonly schedule?: {
    readonly replicas?: string;
    readonly stages?: Readonly<Partial<Record<StageName, string>>>;
  };
  readonly custom?: {
    readonly config?: unknown;
    readonly periodS?: number;
    readonly stages?: readonly StageName[];
  };
}

export interface ExperimentLoad {
  readonly profile: 'emulated';
  readonly vehicles: number;
  readonly arrivals: Arrivals;
  readonly durationMs: number;
  readonly settleWithinMs: number;
}

/** A file of loadtest/experiments/ with its defaults filled in (docs/experiments.md). */
export interface Experiment {
  readonly kind: 'Run';
  readonly name: string;
  readonly question: string | null;
  readonly target: 'local';
  readonly seed: number;
  readonly stages: Readonly<Partial<Record<StageName, StageSettings>>>;
  readonly load: ExperimentLoad;
  readonly arm: { readonly name: string; readonly policy: PolicyChoice };
  /** With the arm's own settings in place. */
  readonly policies: PolicySettings;
}

/** `kpa`, or the path of a policy of the user's own. */
export const policyText = (policy: PolicyChoice): string =>
  policy.kind === 'custom' ? policy.module : policy.kind;

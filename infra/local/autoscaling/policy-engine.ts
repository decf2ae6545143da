import type { Decision, Observation, Policy, PolicyStart } from '#infra/autoscaling/policy.ts';

/**
 * A policy at work on one Service: it keeps the state between decisions. `decide` of a policy of the
 * user's own runs elsewhere, hence the promises.
 */
export interface PolicyEngine {
  readonly name: string;
  /** The program of a policy of the user's own, by its path in the repository. */
  readonly module: string | null;
  readonly config: unknown;
  readonly periodMs: number;
  readonly pokes: boolean;
  start(start: PolicyStart): void;
  /** Rejects with POLICY_FAILED when there is no usable decision; the state stays as it was. */
  decide(observation: Observation, nowMs: number): Promise<Decision>;
  close(): Promise<void>;
}

/** One of the policies that come with the product. */
export class BuiltInEngine<Config, State> implements PolicyEngine {
  readonly name: string;
  readonly module = null;
  readonly config: Config;
  readonly periodMs: number;
  readonly pokes: boolean;
  readonly #policy: Policy<Config, State>;
  #state: State | undefined;

  constructor(policy: Policy<Config, State>, config: Config) {
    this.#policy = policy;
    this.name = policy.name;
    this.config = config;
    this.periodMs = policy.periodMs(config);
    this.pokes = policy.pokes;
  }

  start(start: PolicyStart): void {
    this.#state = this.#policy.start(this.config, start);
  }

  decide(observation: Observation, nowMs: number): Promise<Decision> {
    const state = this.#state;
    if (state === undefined) throw new Error(`Policy ${this.name} decides before it was started`);
    const step = this.#policy.decide(this.config, state, observation, nowMs);
    this.#state = step.state;
    return Promise.resolve(step.decision);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

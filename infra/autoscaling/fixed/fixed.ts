import { plainDecision } from '#infra/autoscaling/plain-decision.ts';
import type { Policy } from '#infra/autoscaling/policy.ts';

export interface FixedConfig {
  readonly replicas: number;
}

/** A Deployment without an autoscaler: always the same number, asked for anew in case somebody changed it. */
export const fixedPolicy: Policy<FixedConfig, null> = {
  name: 'fixed',
  pokes: false,
  periodMs: () => 2_000,
  start: () => null,
  decide: ({ replicas }, state) => ({
    state,
    decision: plainDecision({ desired: replicas, reason: `always ${replicas}` }),
  }),
};

import { plainDecision } from '#infra/autoscaling/plain-decision.ts';
import type { Policy } from '#infra/autoscaling/policy.ts';

export interface ScheduleConfig {
  /** From a moment after the start on, so many replicas; ascending, the first from 0. */
  readonly steps: readonly { readonly fromMs: number; readonly replicas: number }[];
}

/** A time-table, counted from the start: the baseline of somebody who knows the load beforehand. */
export const schedulePolicy: Policy<ScheduleConfig, { readonly startedMs: number }> = {
  name: 'schedule',
  pokes: false,
  periodMs: () => 1_000,
  start: (_, { nowMs }) => ({ startedMs: nowMs }),
  decide: ({ steps }, state, __, nowMs) => {
    const atMs = nowMs - state.startedMs;
    const replicas = steps.findLast(({ fromMs }) => fromMs <= atMs)?.replicas ?? 0;
    const next = steps.find(({ fromMs }) => fromMs > atMs);
    const until = next === undefined ? 'to the end' : `until ${next.fromMs / 1_000} s`;
    return {
      state,
      decision: plainDecision({
        desired: replicas,
        reason: `the time-table says ${replicas} ${until}`,
        details: { elapsedMs: atMs },
        againAtMs: next === undefined ? null : state.startedMs + next.fromMs,
      }),
    };
  },
};

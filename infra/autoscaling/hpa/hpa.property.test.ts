import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Observation, ReplicaObservation } from '#infra/autoscaling/policy.ts';
import type { HpaConfig, ScalingRules } from './hpa-config.ts';
import { hpaPolicy, type HpaState } from './hpa.ts';
import { exampleHpa, exampleObservation, examplePod } from './testing/example-hpa.ts';

const MAX_MS = 2_000_000;

const rules: fc.Arbitrary<ScalingRules> = fc.record({
  stabilizationWindowMs: fc.option(fc.integer({ min: 0, max: 600_000 })),
  policies: fc.array(
    fc.record({
      type: fc.constantFrom('Pods' as const, 'Percent' as const),
      value: fc.integer({ min: 1, max: 300 }),
      periodMs: fc.integer({ min: 1_000, max: 120_000 }),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  selectPolicy: fc.constantFrom('Max' as const, 'Min' as const, 'Disabled' as const),
  tolerance: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
});

const configs: fc.Arbitrary<HpaConfig> = fc
  .record({
    minReplicas: fc.integer({ min: 1, max: 5 }),
    more: fc.integer({ min: 0, max: 20 }),
    target: fc.integer({ min: 1, max: 300 }),
    behavior: fc.option(fc.record({ scaleUp: rules, scaleDown: rules })),
  })
  .map(({ minReplicas, more, target, behavior }) => ({
    ...exampleHpa(),
    minReplicas,
    maxReplicas: minReplicas + more,
    metrics: [{ kind: 'cpu', utilizationPercent: target, averageValue: null }],
    behavior,
  }));

const states: fc.Arbitrary<HpaState> = fc
  .record({
    events: fc.array(
      fc.record({
        atMs: fc.integer({ min: 0, max: MAX_MS }),
        change: fc.integer({ min: -9, max: 9 }),
      }),
      { maxLength: 5 },
    ),
    recommendations: fc.array(
      fc.record({
        atMs: fc.integer({ min: 0, max: MAX_MS }),
        replicas: fc.integer({ min: 0, max: 30 }),
      }),
      { maxLength: 5 },
    ),
  })
  .map((behavior) => ({ behavior }));

const pods: fc.Arbitrary<readonly ReplicaObservation[]> = fc.array(
  fc
    .record({
      ready: fc.boolean(),
      startedMs: fc.integer({ min: 0, max: MAX_MS }),
      readySinceMs: fc.option(fc.integer({ min: 0, max: MAX_MS })),
      cpuMillis: fc.option(fc.double({ min: 0, max: 3_000, noNaN: true })),
    })
    .map((over) => examplePod('pod', over)),
  { maxLength: 12 },
);

const named = (list: readonly ReplicaObservation[]): readonly ReplicaObservation[] =>
  list.map((pod, index) => ({ ...pod, name: `pod-${index}` }));

const observed = (list: readonly ReplicaObservation[], replicas: number): Observation =>
  exampleObservation({ replicas, pods: named(list) });

test('bounds hold, whatever the state', () => {
  fc.assert(
    fc.property(
      configs,
      states,
      pods,
      fc.integer({ min: 0, max: 40 }),
      (config, state, list, replicas) => {
        const { desired } = hpaPolicy.decide(
          config,
          state,
          observed(list, replicas),
          MAX_MS,
        ).decision;
        if (desired === null) return;
        expect(Number.isInteger(desired)).toBe(true);
        expect(desired).toBeGreaterThanOrEqual(config.minReplicas);
        expect(desired).toBeLessThanOrEqual(config.maxReplicas);
      },
    ),
  );
});

test('more load never gives fewer replicas in the same state', () => {
  fc.assert(
    fc.property(
      configs,
      states,
      pods,
      fc.double({ min: 1, max: 10, noNaN: true }),
      (config, state, list, factor) => {
        // As many as are asked for: a Deployment that has other than that is on its way there.
        const replicas = list.length;
        const more = list.map((pod) => ({
          ...pod,
          cpuMillis: pod.cpuMillis === null ? null : pod.cpuMillis * factor,
        }));
        const low = hpaPolicy.decide(config, state, observed(list, replicas), MAX_MS).decision;
        const high = hpaPolicy.decide(config, state, observed(more, replicas), MAX_MS).decision;
        expect(high.desired === null).toBe(low.desired === null);
        expect(high.desired ?? 0).toBeGreaterThanOrEqual(low.desired ?? 0);
        expect(high.wanted ?? 0).toBeGreaterThanOrEqual(low.wanted ?? 0);
      },
    ),
    { numRuns: 1_000 },
  );
});

test('no decision without data', () => {
  fc.assert(
    fc.property(configs, states, pods, (config, state, list) => {
      const blind = list.map((pod) => ({ ...pod, cpuMillis: null }));
      const { decision } = hpaPolicy.decide(
        config,
        state,
        observed(blind, config.minReplicas),
        MAX_MS,
      );
      expect(decision.desired).toBeNull();
      expect(decision.wanted).toBeNull();
    }),
  );
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exampleHpa, exampleObservation } from '#infra/autoscaling/hpa/testing/example-hpa.ts';
import type { KedaConfig } from './keda-config.ts';
import { kedaPolicy, type KedaState } from './keda.ts';

const lags = fc.option(fc.integer({ min: 0, max: 2_000 }));

const configs: fc.Arbitrary<KedaConfig> = fc
  .record({
    pollingIntervalMs: fc.integer({ min: 1_000, max: 60_000 }),
    cooldownPeriodMs: fc.integer({ min: 0, max: 120_000 }),
    initialCooldownPeriodMs: fc.integer({ min: 0, max: 60_000 }),
    minReplicaCount: fc.integer({ min: 0, max: 4 }),
    more: fc.integer({ min: 0, max: 20 }),
    idle: fc.boolean(),
    lagThreshold: fc.integer({ min: 1, max: 50 }),
    activationLagThreshold: fc.integer({ min: 0, max: 50 }),
    downscaleStabilizationMs: fc.integer({ min: 0, max: 300_000 }),
  })
  .map(({ more, idle, downscaleStabilizationMs, ...rest }) => {
    const least = Math.max(1, rest.minReplicaCount);
    return {
      ...rest,
      maxReplicaCount: least + more,
      idleReplicaCount: idle ? 0 : null,
      hpa: {
        ...exampleHpa(),
        // As KEDA makes it where nothing else is said.
        behavior: null,
        minReplicas: least,
        maxReplicas: least + more,
        metrics: [{ kind: 'external', name: 'lag', averageValue: rest.lagThreshold }],
        downscaleStabilizationMs,
      },
    };
  });

/** What a run leads to: lags by the way, with the time between two looks. */
const ways = fc.array(fc.tuple(lags, fc.integer({ min: 1, max: 40_000 })), { maxLength: 30 });

function travel(config: KedaConfig, way: readonly (readonly [number | null, number])[]) {
  let state: KedaState = kedaPolicy.start(config, { nowMs: 0, ready: 1 });
  let replicas = 1;
  let nowMs = 0;
  for (const [lag, stepMs] of way) {
    const step = kedaPolicy.decide(config, state, exampleObservation({ replicas, lag }), nowMs);
    state = step.state;
    replicas = step.decision.desired ?? replicas;
    nowMs += stepMs;
  }
  return { state, replicas, nowMs };
}

test('bounds hold: none, or from the minimum to the maximum', () => {
  fc.assert(
    fc.property(configs, ways, lags, (config, way, lag) => {
      const { state, replicas, nowMs } = travel(config, way);
      const observation = exampleObservation({ replicas, lag });
      const { decision } = kedaPolicy.decide(config, state, observation, nowMs);
      const { desired } = decision;
      if (desired === null) return;
      const zero = config.idleReplicaCount === 0 || config.minReplicaCount === 0;
      if (desired === 0) expect(zero).toBe(true);
      else expect(desired).toBeGreaterThanOrEqual(config.hpa.minReplicas);
      expect(desired).toBeLessThanOrEqual(config.maxReplicaCount);
    }),
  );
});

test('more lag never gives fewer replicas in the same state', () => {
  fc.assert(
    fc.property(configs, ways, fc.nat(2_000), fc.nat(2_000), (config, way, lag, more) => {
      const { state, replicas, nowMs } = travel(config, way);
      const desiredAt = (of: number): number =>
        kedaPolicy.decide(config, state, exampleObservation({ replicas, lag: of }), nowMs).decision
          .desired ?? replicas;
      expect(desiredAt(lag + more)).toBeGreaterThanOrEqual(desiredAt(lag));
    }),
    { numRuns: 500 },
  );
});

test('no decision without data', () => {
  fc.assert(
    fc.property(configs, ways, (config, way) => {
      const { state, replicas, nowMs } = travel(config, way);
      // Replicas outside of its bounds the HPA brings back whatever the metrics say.
      if (replicas !== 0 && replicas < config.hpa.minReplicas) return;
      const observation = exampleObservation({ replicas, lag: null });
      const { decision } = kedaPolicy.decide(config, state, observation, nowMs);
      expect(decision.desired).toBeNull();
    }),
  );
});

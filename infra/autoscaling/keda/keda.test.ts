import { expect, test } from 'vitest';
import { CONTROLLER_DEFAULTS } from '#infra/autoscaling/hpa/hpa-config.ts';
import { exampleHpa, exampleObservation } from '#infra/autoscaling/hpa/testing/example-hpa.ts';
import type { Decision } from '#infra/autoscaling/policy.ts';
import { KEDA_DEFAULTS, type KedaConfig } from './keda-config.ts';
import { kedaPolicy, type KedaState } from './keda.ts';

/** KEDA's defaults, but for periods that are short enough to look at. */
const config = (over: Partial<KedaConfig> = {}): KedaConfig => {
  const { minReplicaCount = 0, maxReplicaCount = 10, lagThreshold = 10 } = over;
  return {
    ...KEDA_DEFAULTS,
    idleReplicaCount: null,
    maxReplicaCount,
    hpa: {
      ...exampleHpa(),
      ...CONTROLLER_DEFAULTS,
      minReplicas: Math.max(1, minReplicaCount),
      maxReplicas: maxReplicaCount,
      metrics: [{ kind: 'external', name: 'nats-jetstream lag', averageValue: lagThreshold }],
      behavior: null,
    },
    ...over,
  };
};

const start = (of: KedaConfig): KedaState => kedaPolicy.start(of, { nowMs: 0, ready: 0 });

const decide = (of: KedaConfig, replicas: number, lag: number | null, nowMs = 0): Decision =>
  kedaPolicy.decide(of, start(of), exampleObservation({ replicas, lag }), nowMs).decision;

/**
 * Restates kedacore/keda pkg/scaling/executor/scale_scaledobjects_test.go, commit 8b4f083c, by its names:
 * what the operator asks for at a poll; none: it leaves the replicas as they are. The rows with pause and
 * force annotations are left out: the local cluster knows none of those.
 */
test.each([
  { name: 'ScaleToMinReplicasWhenNotActive', min: 0, idle: null, current: 10, lag: 0, desired: 0 },
  {
    name: 'ScaleToMinReplicasFromLowerInitialReplicaCount',
    min: 5,
    idle: null,
    current: 1,
    lag: 0,
    desired: 5,
  },
  { name: 'ScaleFromMinReplicasWhenActive', min: 0, idle: null, current: 0, lag: 1, desired: 1 },
  { name: 'ScaleToIdleReplicasWhenNotActive', min: 5, idle: 0, current: 10, lag: 0, desired: 0 },
  {
    name: 'ScaleFromIdleToMinReplicasWhenActive',
    min: 5,
    idle: 0,
    current: 0,
    lag: 1,
    desired: 5,
  },
  { name: 'EventWitTriggerInfo', min: 5, idle: 0, current: 2, lag: 1, desired: 5 },
])('$name', ({ min, idle, current, lag, desired }) => {
  const decision = decide(config({ minReplicaCount: min, idleReplicaCount: idle }), current, lag);
  expect(decision).toMatchObject({ desired, wanted: desired, limits: [] });
});

/**
 * Restates TestNATSJetStreamIsActive of pkg/scalers/nats_jetstream_scaler_test.go, commit 8b4f083c:
 * activationLagThreshold 10; its rows in which stream or consumer is missing are a lag that is not known.
 */
test.each([
  { name: 'no messages waiting', lag: 0, active: false, desired: null },
  { name: 'messages waiting', lag: 100, active: true, desired: 1 },
  { name: 'configured consumer missing', lag: null, active: false, desired: null },
  { name: 'exactly the threshold', lag: 10, active: false, desired: null },
  { name: 'one above it', lag: 11, active: true, desired: 1 },
])('activation: $name', ({ lag, active, desired }) => {
  const decision = decide(config({ activationLagThreshold: 10 }), 0, lag);
  expect(decision.desired).toBe(desired);
  expect(decision.details).toMatchObject({ lag, active });
});

test('a lag that cannot be read changes nothing, also after the cool-down', () => {
  const of = config({ cooldownPeriodMs: 0 });
  for (const replicas of [0, 1, 7]) {
    const decision = decide(of, replicas, null);
    expect(decision).toMatchObject({ desired: null, wanted: null, details: { active: false } });
    expect(decision.reason).toBe(`the lag cannot be read, ${replicas} stay`);
  }
});

/** Runs the policy in its own time; `lagAt` by second. Gives second and replicas at each change. */
function run(
  of: KedaConfig,
  untilS: number,
  replicas: number,
  lagAt: (second: number) => number | null,
) {
  const changes: (readonly [second: number, replicas: number])[] = [];
  let state = start(of);
  let current = replicas;
  let nowMs = 0;
  while (nowMs <= untilS * 1_000) {
    const observation = exampleObservation({ replicas: current, lag: lagAt(nowMs / 1_000) });
    const step = kedaPolicy.decide(of, state, observation, nowMs);
    state = step.state;
    const { desired, againAtMs } = step.decision;
    if (desired !== null && desired !== current) {
      current = desired;
      changes.push([nowMs / 1_000, current]);
    }
    nowMs = Math.max(nowMs + 1, againAtMs ?? Infinity);
  }
  return changes;
}

test('a batch: activated at a poll, then the HPA at its synchronisations, then the cool-down', () => {
  // A poll each 30 s, a synchronisation each 15 s: 95 messages come after 40 s and are done after 100 s.
  const changes = run(config(), 900, 0, (second) => (second >= 40 && second < 100 ? 95 : 0));
  expect(changes).toEqual([
    [60, 1],
    // The HPA that is due at the same moment is asked right after: at most 4, then twice as many each time,
    // up to ceil(95 / 10).
    [60.001, 4],
    [75, 8],
    [90, 10],
    // The last poll that found it active was at 90 s, and 300 s is the cool-down. The HPA, whose last
    // wish for 10 is of 90 s too, would lower them at the same moment.
    [390, 0],
  ]);
});

test('the first replicas go at once without an initial cool-down, else after it', () => {
  expect(run(config(), 60, 1, () => 0)).toEqual([[0, 0]]);
  const slow = config({ initialCooldownPeriodMs: 45_000 });
  expect(run(slow, 200, 1, () => 0)).toEqual([[60, 0]]);
});

test('while only the cool-down keeps it, that is named as the limit', () => {
  const of = config({ initialCooldownPeriodMs: 45_000 });
  expect(decide(of, 1, 0).limits).toContain('cooldownPeriod');
  expect(decide(of, 1, 1).limits).not.toContain('cooldownPeriod');
});

test('with a minimum of 1 there is no way to zero', () => {
  const of = config({ minReplicaCount: 1, cooldownPeriodMs: 0 });
  expect(run(of, 600, 1, (second) => (second < 60 ? 25 : 0))).toEqual([
    [0, 3],
    [360, 1],
  ]);
});

test('polls and synchronisations keep their grids: a late one is not made up for', () => {
  const of = config({ pollingIntervalMs: 10_000 });
  const late = kedaPolicy.decide(
    of,
    start(of),
    exampleObservation({ replicas: 0, lag: 0 }),
    34_000,
  );
  expect(late.state).toMatchObject({ nextPollMs: 40_000, nextSyncMs: 45_000 });
  expect(late.decision.againAtMs).toBe(40_000);
  const between = kedaPolicy.decide(
    of,
    late.state,
    exampleObservation({ replicas: 0, lag: 9 }),
    39_999,
  );
  expect(between.state).toEqual(late.state);
  expect(between.decision.reason).toBe('0 stay until the next synchronisation');
});

test('it asks as often as the shorter of both periods, and is not poked', () => {
  expect(kedaPolicy.periodMs(config())).toBe(15_000);
  expect(kedaPolicy.periodMs(config({ pollingIntervalMs: 2_000 }))).toBe(2_000);
  expect(kedaPolicy.pokes).toBe(false);
});

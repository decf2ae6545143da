import { expect, test } from 'vitest';
import type { Observation, ReplicaObservation, Stat } from '#infra/autoscaling/policy.ts';
import { must } from '#kernel/core/assert.ts';
import type { HpaConfig, HpaMetric } from './hpa-config.ts';
import { hpaPolicy, synchronise, type HpaState } from './hpa.ts';
import {
  exampleHpa,
  exampleObservation,
  examplePod,
  examplePods,
  exampleRules,
} from './testing/example-hpa.ts';
import { readTable } from './testing/read-table.ts';

const NOW_MS = 10_000_000;
/** As if the HPA had been at work for long: no recommendation of old stabilises anything. */
const LONG_AGO: HpaState = {
  behavior: { events: [], recommendations: [{ atMs: NOW_MS - 3_600_000, replicas: 1 }] },
};

/**
 * Restates those tests of kubernetes pkg/controller/podautoscaler/horizontal_test.go, commit 003e8629,
 * that look at one synchronisation on CPU, by their names. `spec`: replicas at the time; `request` in
 * thousandths of a CPU; in pods `u` was never ready, `d` is being stopped, `-` has no sample.
 */
const SYNCHRONISATIONS = `
  name                        | min | max | spec | target | request | pods                    | desired | limit
  ScaleUp                     | 2   | 6   | 3    | 30     | 1000    | 300 500 700             | 5       | -
  ScaleUpUnreadyLessScale     | 2   | 6   | 3    | 30     | 1000    | 300u 500 700            | 4       | -
  ScaleUpUnreadyNoScale       | 2   | 6   | 3    | 30     | 1000    | 400 500u 700u           | 3       | -
  ScaleUpIgnoresDeletionPods  | 2   | 6   | 2    | 30     | 1000    | 500 700 -d -d           | 4       | -
  ScaleDown                   | 2   | 6   | 5    | 50     | 1000    | 100 300 500 250 250     | 3       | -
  ScaleDownIncludeUnreadyPods | 2   | 6   | 5    | 50     | 1000    | 100 300 500 250u 250u   | 2       | -
  Tolerance                   | 1   | 5   | 3    | 100    | 1000    | 1010 1030 1020          | 3       | -
  MinReplicas                 | 2   | 5   | 3    | 90     | 1000    | 10 95 10                | 2       | minReplicas
  ZeroMinReplicasDesiredZero  | 0   | 5   | 3    | 90     | 1000    | 0 0 0                   | 0       | -
  MinReplicasDesiredZero      | 2   | 5   | 3    | 90     | 1000    | 0 0 0                   | 2       | minReplicas
  MaxReplicas                 | 2   | 5   | 3    | 90     | 1000    | 8000 9500 1000          | 5       | maxReplicas
  MissingMetrics              | 2   | 6   | 4    | 100    | 1000    | 400 95 - -              | 3       | -
  EventCreated                | 1   | 5   | 1    | 50     | 200     | 200                     | 2       | -
  EventNotCreated             | 1   | 5   | 2    | 50     | 400     | 200 200                 | 2       | -
  MissingReports              | 1   | 5   | 4    | 50     | 200     | 200                     | 2       | -
  MoreReplicasThanSpecNoScale | 1   | 8   | 4    | 50     | 1000    | 500 500 500 500 500     | 4       | -
  TooFewReplicas              | 3   | 5   | 2    | 90     | 1000    | - -                     | 3       | minReplicas
  TooManyReplicas             | 3   | 5   | 10   | 90     | 1000    | - -                     | 5       | maxReplicas
  ScaleUpRCImmediately        | 2   | 6   | 1    | 80     | 1000    | 0 0 0 0                 | 2       | minReplicas
  ScaleDownRCImmediately      | 2   | 5   | 6    | 50     | 1000    | 8000 9500 1000          | 5       | maxReplicas
  ZeroReplicas                | 3   | 5   | 0    | 90     | 1000    | -                       | none    | -
  EmptyMetrics                | 2   | 6   | 4    | 100    | 1000    | - - - -                 | none    | -
`;

function podsOf(text: string): readonly ReplicaObservation[] {
  return text.split(' ').map((cell, index) => {
    const level = Number.parseInt(cell, 10);
    const unready = cell.endsWith('u');
    return examplePod(`pod-${index}`, {
      cpuMillis: Number.isNaN(level) ? null : level,
      draining: cell.endsWith('d'),
      ready: !unready,
      readySinceMs: unready ? null : 0,
    });
  });
}

test.each(
  readTable(
    SYNCHRONISATIONS,
    'name',
    'min',
    'max',
    'spec',
    'target',
    'request',
    'pods',
    'desired',
    'limit',
  ),
)('$name', (row) => {
  const config = exampleHpa({
    minReplicas: Number(row.min),
    maxReplicas: Number(row.max),
    metrics: [cpuAt(Number(row.target))],
    cpuRequestMillis: Number(row.request),
  });
  const observation = exampleObservation({ replicas: Number(row.spec), pods: podsOf(row.pods) });
  const { decision } = hpaPolicy.decide(config, LONG_AGO, observation, NOW_MS);
  expect(decision.desired).toBe(row.desired === 'none' ? null : Number(row.desired));
  expect(decision.limits).toEqual(row.limit === '-' ? [] : [row.limit]);
});

function cpuAt(utilizationPercent: number): HpaMetric {
  return { kind: 'cpu', utilizationPercent, averageValue: null };
}

const decide = (config: HpaConfig, over: Partial<Observation>, state: HpaState = LONG_AGO) =>
  hpaPolicy.decide(config, state, exampleObservation(over), NOW_MS).decision;

test.each([
  { name: 'UpscaleCap', maxReplicas: 100, desired: 24, limit: 'behavior.scaleUp' },
  { name: 'UpscaleCapGreaterThanMaxReplicas', maxReplicas: 20, desired: 20, limit: 'maxReplicas' },
])('$name', ({ maxReplicas, desired, limit }) => {
  const { behavior } = exampleHpa();
  const config = exampleHpa({
    maxReplicas,
    metrics: [cpuAt(10)],
    behavior: { ...behavior, scaleUp: exampleRules(0, 0, 700, 60, 0) },
    cpuRequestMillis: 100,
  });
  const decision = decide(config, { replicas: 3, pods: examplePods([100, 200, 300]) });
  expect(decision).toMatchObject({ desired, limits: [limit] });
});

test('EmptyCPURequest: a utilisation of nothing does not exist', () => {
  const config = exampleHpa({ cpuRequestMillis: null });
  const decision = decide(config, { replicas: 1, pods: examplePods([200]) });
  expect(decision).toMatchObject({ desired: null, wanted: null });
  expect(decision.reason).toBe('no metric has a value: 1 stay');
});

test('ScaleDownStabilizeInitialSize: what it finds at first counts as a recommendation', () => {
  const config = exampleHpa({ minReplicas: 2, maxReplicas: 6 });
  const pods = examplePods([100, 300, 500, 250, 250]);
  const start = hpaPolicy.start(config, { nowMs: NOW_MS, ready: 5 });
  const observation = exampleObservation({ replicas: 5, pods });
  const first = hpaPolicy.decide(config, start, observation, NOW_MS);
  expect(first.decision).toMatchObject({ desired: 5, wanted: 3, limits: ['stabilization'] });
  // 300 s later the five are out of the window; the threes since are not.
  const later = hpaPolicy.decide(config, first.state, observation, NOW_MS + 299_999);
  expect(later.decision.desired).toBe(5);
  const after = hpaPolicy.decide(config, later.state, observation, NOW_MS + 300_000);
  expect(after.decision.desired).toBe(3);
});

test.each([
  { replicas: 9, change: -4 },
  { replicas: 1, change: 2 },
])('back into the bounds from $replicas is a change that rates count', ({ replicas, change }) => {
  const config = exampleHpa({ minReplicas: 3, maxReplicas: 5 });
  const start = hpaPolicy.start(config, { nowMs: 0, ready: replicas });
  const step = hpaPolicy.decide(config, start, exampleObservation({ replicas }), NOW_MS);
  expect(step.state.behavior.events).toEqual([{ atMs: NOW_MS, change }]);
});

test('StabilizeDownscale: the highest of the last five minutes, not of the last ten', () => {
  const config = exampleHpa({ maxReplicas: 5, metrics: [cpuAt(100)], cpuRequestMillis: 100 });
  const recommendations = [
    { atMs: NOW_MS - 600_000, replicas: 10 },
    { atMs: NOW_MS - 60_000, replicas: 4 },
  ];
  const state = { behavior: { events: [], recommendations } };
  const decision = decide(config, { replicas: 4, pods: examplePods([50, 50, 50]) }, state);
  expect(decision).toMatchObject({ desired: 4, wanted: 2, limits: ['stabilization'] });
});

const LAG: HpaMetric = { kind: 'external', name: 'lag', averageValue: 10 };

test.each([
  { name: 'ScaleUpOneMetricEmpty', replicas: 3, pods: [300, 400, 500], target: 30, desired: 4 },
  {
    name: 'NoScaleDownOneMetricEmpty',
    replicas: 5,
    pods: [100, 300, 500, 250, 250],
    target: 50,
    desired: null,
  },
])('$name: without all metrics it may raise and not lower', ({ replicas, target, ...row }) => {
  const metrics = [cpuAt(target), LAG];
  const config = exampleHpa({ minReplicas: 2, maxReplicas: 6, metrics });
  const observation = exampleObservation({ replicas, pods: examplePods(row.pods) });
  expect(synchronise(config, LONG_AGO, observation, NOW_MS, null).decision.desired).toBe(
    row.desired,
  );
});

test('of several metrics the greatest number counts, and each stands in the details', () => {
  const config = exampleHpa({ metrics: [cpuAt(50), LAG] });
  const observation = exampleObservation({ replicas: 2, pods: examplePods([500, 500]) });
  const { decision } = synchronise(config, LONG_AGO, observation, NOW_MS, 35);
  expect(decision.desired).toBe(4);
  expect(decision.details).toEqual({
    cpuRatio: 1,
    cpuReplicas: 2,
    cpuUtilizationPercent: 50,
    cpuTargetPercent: 50,
    externalRatio: 1.75,
    externalReplicas: 4,
    externalTarget: 10,
  });
  expect(decision.reason).toBe(
    'cpu is 50 % of what is requested, external is 1.75 of its target: 4 wanted of 2, 4 asked for',
  );
});

const stat = (atMs: number, over: Partial<Stat>): Stat => ({
  atMs,
  from: 'replica',
  averageConcurrency: 0,
  averageProxiedConcurrency: 0,
  requestCount: 0,
  proxiedRequestCount: 0,
  ...over,
});

test.each(['concurrency', 'rps'] as const)(
  "Knative's class with %s: the average second",
  (kind) => {
    const config = exampleHpa({ metrics: [{ kind, averageValue: 10 }] });
    // Two replicas in two seconds: 30 and 40 in all, of which 10 are counted by the activator as well.
    const figure = (value: number, proxied = 0) =>
      kind === 'rps'
        ? { requestCount: value, proxiedRequestCount: proxied }
        : { averageConcurrency: value, averageProxiedConcurrency: proxied };
    const stats = [
      stat(1_000, figure(15)),
      stat(1_010, figure(15)),
      stat(2_000, figure(25, 10)),
      stat(2_010, figure(15)),
    ];
    // (30 + 30) in two seconds, at 10 each: 3.
    expect(decide(config, { replicas: 2, stats }).desired).toBe(3);
    expect(decide(config, { replicas: 2, stats: [] }).desired).toBeNull();
  },
);

test('it asks again after a sync period; state and decision are plain data, and no input is changed', () => {
  const config = exampleHpa({ syncPeriodMs: 5_000 });
  expect(hpaPolicy.periodMs(config)).toBe(5_000);
  expect(hpaPolicy.pokes).toBe(false);
  const start = hpaPolicy.start(config, { nowMs: NOW_MS, ready: 1 });
  const frozen = JSON.stringify(start);
  const observation = exampleObservation({ replicas: 1, pods: examplePods([900]) });
  const step = hpaPolicy.decide(config, start, observation, NOW_MS);
  expect(JSON.stringify(start)).toBe(frozen);
  expect(JSON.parse(JSON.stringify(step))).toEqual(step);
  expect(must(step.state.behavior.events[0], 'a change')).toEqual({ atMs: NOW_MS, change: 1 });
});

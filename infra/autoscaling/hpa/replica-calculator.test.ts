import { expect, test } from 'vitest';
import type { ReplicaObservation } from '#infra/autoscaling/policy.ts';
import {
  groupReplicas,
  resourceReplicas,
  sharedReplicas,
  type ResourceMetric,
} from './replica-calculator.ts';
import { exampleHpa, examplePod, examplePods } from './testing/example-hpa.ts';
import { readTable } from './testing/read-table.ts';

/**
 * Restates kubernetes pkg/controller/podautoscaler/replica_calculator_test.go: the tests of commit
 * 5f3bc7cd and those of 2026 with tolerances for each direction (a769d588), by their names. Upstream's
 * levels are a container's, and so are its requests of one CPU; both are doubled there, which cancels.
 */
const NOW_MS = 600_000;
const CONFIG = exampleHpa({
  // The calculator's own test defaults.
  cpuInitializationPeriodMs: 120_000,
  initialReadinessDelayMs: 10_000,
  metricWindowMs: 60_000,
});
const TOLERANCE = { up: 0.1, down: 0.1 };

const cpu = (utilizationPercent: number): ResourceMetric => ({
  kind: 'cpu',
  utilizationPercent,
  averageValue: null,
});

/** It started just now. */
const hot = (pod: ReplicaObservation): ReplicaObservation => ({
  ...pod,
  startedMs: NOW_MS,
  readySinceMs: pod.readySinceMs === null ? null : NOW_MS,
});
const unready = (pod: ReplicaObservation): ReplicaObservation => ({
  ...pod,
  ready: false,
  readySinceMs: null,
});
const draining = (pod: ReplicaObservation): ReplicaObservation => ({ ...pod, draining: true });

/**
 * Pods such as `300 500u -`: use, `-` for none measured; `u` was never ready, `h` began just now
 * (upstream's hot CPU), `d` is being stopped.
 */
function podsOf(text: string, kind: 'cpu' | 'memory'): readonly ReplicaObservation[] {
  const changes = { u: unready, h: hot, d: draining } as const;
  return text.split(' ').map((cell, index) => {
    const level = Number.parseInt(cell, 10);
    const use = Number.isNaN(level) ? null : level;
    const letters = cell.match(/[uhd]/g) ?? [];
    const figures = kind === 'cpu' ? { cpuMillis: use } : { memoryBytes: use };
    const measured = examplePod(`pod-${index}`, figures);
    return letters.reduce((pod, letter) => changes[letter as keyof typeof changes](pod), measured);
  });
}

/**
 * TestReplicaCalc… and TestReplicaCalcResourceTolerance; up and down are the tolerances. The last two are
 * our own: missing replicas use the whole target of 300 %, hence all stay (at 100 % of the request it were
 * 2); 100 % of 44 % with 11 replicas are 25.000000000000004.
 */
const UTILISATIONS = `
  name                                                             | current | pods                                                   | target | up   | down | replicas | percent
  ScaleUp                                                          | 3       | 300 500 700                                            | 30     | 0.1  | 0.1  | 5        | 50
  ScaleUpUnreadyLessScale                                          | 3       | 300u 500 700                                           | 30     | 0.1  | 0.1  | 4        | 60
  ScaleUpHotCpuLessScale                                           | 3       | 300h 500 700                                           | 30     | 0.1  | 0.1  | 4        | 60
  ScaleUpUnreadyNoScale                                            | 3       | 400 500u 700u                                          | 30     | 0.1  | 0.1  | 3        | 40
  ScaleHotCpuNoScale                                               | 3       | 400 500hu 700hu                                        | 30     | 0.1  | 0.1  | 3        | 40
  ScaleUpIgnoresDeletionPods                                       | 2       | 500 700 -d -d                                          | 30     | 0.1  | 0.1  | 4        | 60
  ScaleDown                                                        | 5       | 100 300 500 250 250                                    | 50     | 0.1  | 0.1  | 3        | 28
  ScaleDownIncludeUnreadyPods                                      | 5       | 100 300 500 250u 250u                                  | 50     | 0.1  | 0.1  | 2        | 30
  ScaleDownExcludeUnscheduledPods                                  | 5       | 100 -u -u -u -u                                        | 50     | 0.1  | 0.1  | 1        | 10
  ScaleDownIgnoreHotCpuPods                                        | 5       | 100 300 500 250h 250h                                  | 50     | 0.1  | 0.1  | 2        | 30
  ScaleDownIgnoresDeletionPods                                     | 5       | 100 300 500 250 250 -d -d                              | 50     | 0.1  | 0.1  | 3        | 28
  Tolerance                                                        | 3       | 1010 1030 1020                                         | 100    | 0.1  | 0.1  | 3        | 102
  outside 0% tolerance                                             | 3       | 909 1010 1111                                          | 100    | 0    | 0    | 4        | 101
  within 200% scale-up tolerance                                   | 3       | 1890 1910 1900                                         | 100    | 2    | 0.1  | 3        | 190
  outside 8% scale-up tolerance (superfluous scale-down tolerance) | 3       | 1100 1080 1090                                         | 100    | 0.08 | 2    | 4        | 109
  within 36% scale-down tolerance                                  | 3       | 660 640 650                                            | 100    | 0.1  | 0.36 | 3        | 65
  outside 34% scale-down tolerance                                 | 3       | 660 640 650                                            | 100    | 0.1  | 0.34 | 2        | 65
  MissingMetrics                                                   | 4       | 400 95 - -                                             | 100    | 0.1  | 0.1  | 3        | 24
  MissingMetricsNoChangeEq                                         | 2       | 1000 -                                                 | 100    | 0.1  | 0.1  | 2        | 100
  MissingMetricsNoChangeGt                                         | 2       | 1900 -                                                 | 100    | 0.1  | 0.1  | 2        | 190
  MissingMetricsNoChangeLt                                         | 2       | 600 -                                                  | 100    | 0.1  | 0.1  | 2        | 60
  MissingMetricsUnreadyChange                                      | 3       | 100u 450 -                                             | 50     | 0.1  | 0.1  | 3        | 45
  MissingMetricsHotCpuNoChange                                     | 3       | 100h 450 -                                             | 50     | 0.1  | 0.1  | 3        | 45
  MissingMetricsUnreadyScaleUp                                     | 3       | 100u 2000 -                                            | 50     | 0.1  | 0.1  | 4        | 200
  MissingMetricsHotCpuScaleUp                                      | 3       | 100hu 2000 -                                           | 50     | 0.1  | 0.1  | 4        | 200
  MissingMetricsUnreadyScaleDown                                   | 4       | 100u 100 100 -                                         | 50     | 0.1  | 0.1  | 3        | 10
  rolling update with maxSurge: extra pod missing metric           | 2       | 100 100 -                                              | 50     | 0.1  | 0.1  | 2        | 10
  target over 100 % (three missing)                                | 4       | 200 - - -                                              | 300    | 0.1  | 0.1  | 4        | 20
  no rounding of the ratio                                         | 11      | 1000 1000 1000 1000 1000 1000 1000 1000 1000 1000 1000 | 44     | 0.1  | 0.1  | 26       | 100
`;

const COLUMNS = ['name', 'current', 'pods', 'target', 'up', 'down', 'replicas'] as const;

test.each(readTable(UTILISATIONS, ...COLUMNS, 'percent'))('utilisation: $name', (row) => {
  const groups = groupReplicas(CONFIG, 'cpu', podsOf(row.pods, 'cpu'), NOW_MS);
  const tolerances = { up: Number(row.up), down: Number(row.down) };
  const metric = cpu(Number(row.target));
  const proposal = resourceReplicas(CONFIG, metric, Number(row.current), groups, tolerances);
  expect(proposal?.replicas).toBe(Number(row.replicas));
  expect(proposal?.utilizationPercent).toBe(Number(row.percent));
});

test.each([
  { name: 'EmptyMetrics', levels: [null, null, null, null], request: 1_000 },
  { name: 'no replica at all', levels: [], request: 1_000 },
  { name: 'EmptyCPURequest', levels: [200], request: null },
  { name: 'a request of 0', levels: [200], request: 0 },
])('no value: $name', ({ levels, request }) => {
  const config = { ...CONFIG, cpuRequestMillis: request };
  const groups = groupReplicas(config, 'cpu', examplePods(levels), NOW_MS);
  expect(resourceReplicas(config, cpu(100), levels.length, groups, TOLERANCE)).toBeNull();
});

/** TestReplicaCalcPodMetric: an average value; readiness does not matter but for CPU. */
const VALUES = `
  name                                                   | current | pods                          | target | up   | down | replicas
  scale up                                               | 3       | 20000 10000 30000             | 15000  | 0.1  | 0.1  | 4
  scale up: unready hot-CPU pod scales less              | 3       | 50000 10000 30000hu           | 15000  | 0.1  | 0.1  | 6
  scale up: unready hot-CPU pods avoid scale-down        | 3       | 50000hu 15000 30000hu         | 15000  | 0.1  | 0.1  | 7
  scale down                                             | 5       | 12000 12000 12000 12000 12000 | 20000  | 0.1  | 0.1  | 3
  within default tolerance                               | 3       | 20000 21000 21000             | 20000  | 0.1  | 0.1  | 3
  outside configurable 1% tolerance                      | 3       | 20000 21000 21000             | 20000  | 0.01 | 0.1  | 4
  no change: missing metrics                             | 5       | 20000 19000 21000 - -         | 20000  | 0.1  | 0.1  | 5
  rolling update with maxSurge: extra pod missing metric | 2       | 10000 10000 -                 | 17000  | 0.1  | 0.1  | 2
`;

test.each(readTable(VALUES, ...COLUMNS))('average value: $name', (row) => {
  const metric = {
    kind: 'memory',
    utilizationPercent: null,
    averageValue: Number(row.target),
  } as const;
  const groups = groupReplicas(CONFIG, 'memory', podsOf(row.pods, 'memory'), NOW_MS);
  const tolerances = { up: Number(row.up), down: Number(row.down) };
  const proposal = resourceReplicas(CONFIG, metric, Number(row.current), groups, tolerances);
  expect(proposal?.replicas).toBe(Number(row.replicas));
  expect(proposal?.utilizationPercent).toBeNull();
});

test('the average is cut off to a whole one: 20,666.67 of 20,000 is 1.0333', () => {
  const metric = { kind: 'memory', utilizationPercent: null, averageValue: 20_000 } as const;
  const pods = podsOf('20000 21000 21000', 'memory');
  const groups = groupReplicas(CONFIG, 'memory', pods, NOW_MS);
  expect(resourceReplicas(CONFIG, metric, 3, groups, TOLERANCE)?.ratio).toBe(1.0333);
});

/** TestReplicaCalcExternalPerPodMetric and TestReplicaCalcObjectPerPodMetric. */
test.each([
  [3, 8_600, 2_150, 0.1, 4],
  [5, 8_600, 2_867, 0.1, 3],
  [3, 8_600, 2_900, 0.1, 3],
  [3, 8_600, 2_800, 0.01, 4],
  [3, 20_000, 5_000, 0.1, 4],
  [5, 6_000, 2_000, 0.1, 3],
  [4, 20_166, 5_000, 0.1, 4],
  [4, 20_208, 5_000, 0.01, 5],
  [0, 20_000, 5_000, 0.1, 4],
  [0, 0, 5_000, 0.1, 0],
  // Own rows: the edge of the tolerance, 1.1 and just above it.
  [4, 44, 10, 0.1, 4],
  [4, 45, 10, 0.1, 5],
  // The same downwards: 0.9 and just below it.
  [10, 90, 10, 0.1, 10],
  [10, 89, 10, 0.1, 9],
])('shared by %i: %i at %i each, tolerance %d → %i', (current, total, each, up, replicas) => {
  expect(sharedReplicas(total, each, current, { up, down: 0.1 }).replicas).toBe(replicas);
});

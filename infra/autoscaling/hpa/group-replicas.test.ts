import { expect, test } from 'vitest';
import type { ReplicaObservation } from '#infra/autoscaling/policy.ts';
import { groupReplicas } from './replica-calculator.ts';
import { exampleHpa, examplePod } from './testing/example-hpa.ts';

/**
 * Restates TestGroupPods of kubernetes pkg/controller/podautoscaler/replica_calculator_test.go, commit
 * a769d588, with its periods: CPU initialisation 2 min, readiness delay 10 s. What has no match here is
 * left out: a Pod without a Ready condition, and one that has failed or succeeded.
 */
const MINUTE_MS = 60_000;
const NOW_MS = 20 * MINUTE_MS;
const ago = (ms: number): number => NOW_MS - ms;

interface Case {
  readonly name: string;
  readonly kind?: 'cpu' | 'memory';
  readonly windowMs?: number;
  readonly delayMs?: number;
  readonly pod: Partial<ReplicaObservation>;
  readonly group: 'ready' | 'unready' | 'missing' | 'none';
}

const CASES: readonly Case[] = [
  {
    name: 'count in a ready pod - memory',
    kind: 'memory',
    pod: { memoryBytes: 1, startedMs: NOW_MS, readySinceMs: NOW_MS },
    group: 'ready',
  },
  {
    name: 'count in a ready pod with fresh metrics during initialization period - CPU',
    windowMs: 30_000,
    pod: { cpuMillis: 1, startedMs: ago(MINUTE_MS), readySinceMs: ago(30_000) },
    group: 'ready',
  },
  {
    name: 'unready a ready pod without fresh metrics during initialization period - CPU',
    windowMs: 60_000,
    pod: { cpuMillis: 1, startedMs: ago(MINUTE_MS), readySinceMs: ago(30_000) },
    group: 'unready',
  },
  {
    name: 'unready an unready pod during initialization period - CPU',
    pod: { cpuMillis: 1, ready: false, startedMs: ago(MINUTE_MS), readySinceMs: ago(54_000) },
    group: 'unready',
  },
  {
    name: 'count in a ready pod without fresh metrics after initialization period - CPU',
    windowMs: 60_000,
    pod: { cpuMillis: 1, startedMs: ago(3 * MINUTE_MS), readySinceMs: ago(3 * MINUTE_MS) },
    group: 'ready',
  },
  {
    name: 'count in an unready pod that was ready after initialization period - CPU',
    pod: {
      cpuMillis: 1,
      ready: false,
      startedMs: ago(10 * MINUTE_MS),
      readySinceMs: ago(9 * MINUTE_MS),
    },
    group: 'ready',
  },
  {
    name: 'unready pod that has never been ready after initialization period - CPU',
    pod: { cpuMillis: 1, ready: false, startedMs: ago(10 * MINUTE_MS), readySinceMs: null },
    group: 'unready',
  },
  {
    name: 'the same without a readiness delay',
    delayMs: 0,
    pod: { cpuMillis: 1, ready: false, startedMs: ago(10 * MINUTE_MS), readySinceMs: null },
    group: 'ready',
  },
  {
    name: 'a missing pod',
    pod: { startedMs: ago(3 * MINUTE_MS), readySinceMs: ago(3 * MINUTE_MS) },
    group: 'missing',
  },
  {
    name: 'pending pods are unreadied',
    pod: { ready: false, startedMs: NOW_MS, readySinceMs: null },
    group: 'unready',
  },
  {
    name: 'the memory of one that starts counts',
    kind: 'memory',
    pod: { memoryBytes: 1, ready: false, startedMs: NOW_MS, readySinceMs: null },
    group: 'ready',
  },
  {
    name: 'ignore pods with deletion timestamps',
    pod: { cpuMillis: 1, draining: true },
    group: 'none',
  },
  // The edges of both periods.
  {
    name: 'started exactly an initialisation period ago',
    pod: { cpuMillis: 1, startedMs: ago(2 * MINUTE_MS), readySinceMs: NOW_MS },
    group: 'ready',
  },
  {
    name: 'started one millisecond less than that ago',
    pod: { cpuMillis: 1, startedMs: ago(2 * MINUTE_MS - 1), readySinceMs: NOW_MS },
    group: 'unready',
  },
  {
    name: 'ready for one millisecond less than a metric window',
    windowMs: 15_000,
    pod: { cpuMillis: 1, startedMs: ago(20_000), readySinceMs: ago(14_999) },
    group: 'unready',
  },
];

test.each(CASES)('$name', ({ kind = 'cpu', windowMs = 15_000, delayMs = 10_000, pod, group }) => {
  const config = exampleHpa({
    cpuInitializationPeriodMs: 2 * MINUTE_MS,
    initialReadinessDelayMs: delayMs,
    metricWindowMs: windowMs,
  });
  const groups = groupReplicas(config, kind, [examplePod('bentham', pod)], NOW_MS);
  const counts = { ready: 0, unready: 0, missing: 0, ...(group === 'none' ? {} : { [group]: 1 }) };
  expect({
    ready: groups.ready.length,
    unready: groups.unready.length,
    missing: groups.missing.length,
  }).toEqual(counts);
});

test('several pods', () => {
  const config = exampleHpa({ cpuInitializationPeriodMs: 2 * MINUTE_MS });
  const old = { startedMs: ago(3 * MINUTE_MS), readySinceMs: ago(3 * MINUTE_MS) };
  const groups = groupReplicas(
    config,
    'cpu',
    [
      examplePod('lucretius', {
        ready: false,
        readySinceMs: null,
        startedMs: NOW_MS,
        cpuMillis: 1,
      }),
      examplePod('niccolo', { ...old, cpuMillis: 1 }),
      examplePod('epicurus', old),
    ],
    NOW_MS,
  );
  expect(groups.unready.map(({ name }) => name)).toEqual(['lucretius']);
  expect(groups.ready.map(({ name }) => name)).toEqual(['niccolo']);
  expect(groups.missing.map(({ name }) => name)).toEqual(['epicurus']);
});

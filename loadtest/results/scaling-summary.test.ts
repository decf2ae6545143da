import { expect, test } from 'vitest';
import { scalingSummaries, type ScalingRecords } from './scaling-summary.ts';
import type { ColdStartRow, ReplicaRow, SampleRow } from '#infra/local/cluster-records.ts';

const row = (atMs: number, replica: string, phase: ReplicaRow['phase']): ReplicaRow => ({
  atMs,
  service: replica.replace(/-\d+$/, ''),
  replica,
  phase,
  node: null,
  pid: null,
  why: null,
});

const start = (replica: string, decidedMs: number, change: Partial<ColdStartRow> = {}) => ({
  service: replica.replace(/-\d+$/, ''),
  replica,
  fromZero: false,
  requestedMs: null,
  decidedMs,
  slotMs: decidedMs,
  startDelayMs: 0,
  spawnedMs: decidedMs + 5,
  bootedMs: decidedMs + 40,
  loadedMs: decidedMs + 80,
  listeningMs: decidedMs + 100,
  firstResponseMs: null,
  ...change,
});

const sample = (atMs: number, service: string, usedMs: Record<string, number>): SampleRow => ({
  atMs,
  service,
  offeredPerS: 0,
  concurrency: 0,
  queued: 0,
  desired: 0,
  ready: 0,
  starting: 0,
  draining: 0,
  panicking: false,
  path: 'proxy',
  backlog: null,
  replicas: Object.entries(usedMs).map(([name, cpuMs]) => ({ name, cpuMs, memoryBytes: 1 })),
});

const records = (change: Partial<ScalingRecords>): ScalingRecords => ({
  replicas: [],
  coldStarts: [],
  samples: [],
  ...change,
});

const WHOLE = { fromMs: 0, untilMs: 60_000 };

test('scalingSummaries of one replica from zero and back', () => {
  const found = scalingSummaries(
    records({
      replicas: [
        row(1_000, 'export-1', 'launching'),
        row(1_100, 'export-1', 'ready'),
        row(11_000, 'export-1', 'draining'),
        row(11_500, 'export-1', 'gone'),
      ],
      coldStarts: [start('export-1', 1_000, { fromZero: true, requestedMs: 990 })],
      samples: [
        sample(1_000, 'export', {}),
        sample(2_000, 'export', { 'export-1': 120 }),
        sample(11_000, 'export', { 'export-1': 370 }),
      ],
    }),
    WHOLE,
  );
  expect(found).toEqual({
    export: {
      replicasMax: 1,
      coldStarts: 1,
      coldStartsFromZero: 1,
      coldStartMs: { p50: 100, p95: null, p99: null, max: 100, n: 1 },
      // From its launch to its end.
      replicaSeconds: 10.5,
      cpuSeconds: 0.37,
      zeroBefore: true,
      backToZero: true,
    },
  });
});

test('scalingSummaries of a replica that was there before and stays: only the span counts', () => {
  const { export: stage } = scalingSummaries(
    records({
      replicas: [
        row(0, 'export-1', 'launching'),
        row(100, 'export-1', 'ready'),
        // The cluster is stopped after the span.
        row(31_000, 'export-1', 'draining'),
        row(31_100, 'export-1', 'gone'),
      ],
      coldStarts: [start('export-1', 0)],
      samples: [
        sample(10_000, 'export', { 'export-1': 400 }),
        sample(20_000, 'export', { 'export-1': 1_400 }),
        sample(31_000, 'export', { 'export-1': 9_000 }),
      ],
    }),
    { fromMs: 10_000, untilMs: 30_000 },
  );
  expect(stage).toMatchObject({
    replicasMax: 1,
    coldStarts: 0,
    coldStartMs: { p50: null, n: 0 },
    replicaSeconds: 20,
    cpuSeconds: 1,
    zeroBefore: false,
    backToZero: false,
  });
});

test('scalingSummaries + replicasMax: those ready at once; a successor at the same moment is no second', () => {
  const rows = [
    row(0, 'export-1', 'ready'),
    row(5_000, 'export-1', 'draining'),
    row(5_000, 'export-2', 'ready'),
    row(6_000, 'export-1', 'gone'),
    row(7_000, 'export-3', 'ready'),
    row(8_000, 'export-2', 'gone'),
    row(9_000, 'export-3', 'gone'),
  ];
  const most = (untilMs: number) =>
    scalingSummaries(records({ replicas: rows }), { fromMs: 0, untilMs })['export']?.replicasMax;
  expect(most(6_500)).toBe(1);
  expect(most(60_000)).toBe(2);
});

test('scalingSummaries + replicaSeconds: back-off counts, waiting for a node does not', () => {
  const { export: stage } = scalingSummaries(
    records({
      replicas: [
        row(0, 'export-1', 'pending'),
        row(10_000, 'export-1', 'launching'),
        row(11_000, 'export-1', 'backoff'),
        row(15_000, 'export-1', 'launching'),
        row(16_000, 'export-1', 'ready'),
        row(20_000, 'export-1', 'gone'),
      ],
    }),
    WHOLE,
  );
  expect(stage).toMatchObject({ replicaSeconds: 10, zeroBefore: true, backToZero: true });
});

test('scalingSummaries + cpuSeconds: replicas one after the other, each from its own zero', () => {
  const { export: stage } = scalingSummaries(
    records({
      samples: [
        sample(1_000, 'export', { 'export-1': 500 }),
        sample(2_000, 'export', { 'export-1': 700, 'export-2': 100 }),
        sample(3_000, 'export', { 'export-2': 300 }),
      ],
    }),
    { fromMs: 1_000, untilMs: 60_000 },
  );
  expect(stage?.cpuSeconds).toBe(0.5);
});

test('scalingSummaries + coldStartMs: quantiles over the starts of the span', () => {
  const starts = Array.from({ length: 20 }, (_, index) =>
    start(`export-${index}`, index * 1_000, { listeningMs: index * 1_000 + 100 + index }),
  );
  const { export: stage } = scalingSummaries(records({ coldStarts: starts }), WHOLE);
  expect(stage).toMatchObject({
    coldStarts: 20,
    coldStartsFromZero: 0,
    coldStartMs: { p50: 109, p95: 118, max: 119, n: 20 },
  });
});

test('scalingSummaries of a stage without a row: at zero all the time', () => {
  expect(scalingSummaries(records({}), WHOLE, ['campaign'])).toEqual({
    campaign: {
      replicasMax: 0,
      coldStarts: 0,
      coldStartsFromZero: 0,
      coldStartMs: { p50: null, p95: null, p99: null, max: null, n: 0 },
      replicaSeconds: 0,
      cpuSeconds: 0,
      zeroBefore: true,
      backToZero: true,
    },
  });
});

import { expect, test } from 'vitest';
import type { BurstReport } from '#kernel/demand/demand.ts';
import { restRows } from './rest-bench.ts';

const report = (restMs: number | null): BurstReport => ({
  kind: 'cpuTime',
  place: 'instead',
  nominal: 1,
  mode: 'inline',
  steps: 800_000,
  cpuMs: 1,
  wallMs: 2,
  readyMs: null,
  restMs,
  involuntarySwitches: 0,
  rate: 1,
  queuedMs: 0,
  aborted: false,
});

test('restRows: median, p95 and largest by size, whatever the sign', () => {
  const rows = restRows('inline, 1 ms', [0.1, -0.2, 0.1].map(report));
  expect(rows.map(({ value }) => Number(value.toFixed(3)))).toEqual([0.1, 0.19, 0.2]);
  expect(rows[1]).toMatchObject({ target: '<= 0.3', met: true });
});

test('restRows with a rest above the target: not met', () => {
  expect(restRows('inline, 1 ms', [0.31, 0.31].map(report))[1]).toMatchObject({ met: false });
});

test('restRows without an account of waiting: one row that says so, no target', () => {
  expect(restRows('inline, 1 ms', [report(0.1), report(null)])).toEqual([
    { name: 'rest, inline, 1 ms: this system keeps no account of waiting', value: 0, unit: '' },
  ]);
});

import { must } from '#kernel/core/assert.ts';
import type { Clock } from '#kernel/core/clock.ts';
import { randomStream } from '#kernel/core/random.ts';
import type { BurstReport } from '#kernel/demand/demand.ts';
import { createDemandRunner, type Placement } from '#kernel/demand/demand-runner.ts';
import { quantile } from '#loadtest/statistics/quantile.ts';
import type { BenchRow } from './bench-row.ts';

/** What wall time has beyond CPU time and run-queue wait, of a burst: that accounts for the rest. */
export const TARGET_REST_MS = 0.3;

/** Bursts by size, ms; the first of each size warms up and is left out. */
const BURSTS: Readonly<Record<number, number>> = { 1: 200, 5: 100, 50: 40 };

const PLACEMENTS: readonly (readonly [name: string, placement: Placement])[] = [
  ['inline', 'inline'],
  ['worker', { workers: 1, maxQueue: 1 }],
];

/**
 * How large `restMs` is: the part of a burst's wall time that neither its CPU time nor the kernel's
 * account of its waiting explains. Small on an idle machine and on a busy one alike.
 */
export async function restBench(clock: Clock): Promise<readonly BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const [name, placement] of PLACEMENTS) {
    for (const [ms, n] of Object.entries(BURSTS)) {
      rows.push(...restRows(`${name}, ${ms} ms`, await burn(clock, placement, Number(ms), n)));
    }
  }
  return rows;
}

async function burn(
  clock: Clock,
  placement: Placement,
  ms: number,
  n: number,
): Promise<readonly BurstReport[]> {
  const amount = { kind: 'constant', value: ms } as const;
  const runner = await createDemandRunner([{ kind: 'cpuTime', ms: amount, place: 'instead' }], {
    placement,
    random: randomStream(1, 'rest-bench'),
    clock,
  });
  try {
    const reports: BurstReport[] = [];
    const { signal } = new AbortController();
    for (let burst = 0; burst <= n; burst++) reports.push(...(await runner.run('instead', signal)));
    return reports.slice(1);
  } finally {
    await runner.close();
  }
}

/** Median, p95 and largest size of the rest; without an account of waiting there is none. */
export function restRows(name: string, reports: readonly BurstReport[]): readonly BenchRow[] {
  if (reports.some(({ restMs }) => restMs === null)) {
    return [{ name: `rest, ${name}: this system keeps no account of waiting`, value: 0, unit: '' }];
  }
  const sizes = reports.map(({ restMs }) => Math.abs(must(restMs, 'rest of a burst')));
  const row = (label: string, value: number): BenchRow => ({
    name: `rest, ${name}, ${label}`,
    value,
    unit: 'ms',
  });
  const p95 = quantile(sizes, 0.95);
  return [
    row('median', quantile(sizes, 0.5)),
    { ...row('p95', p95), target: `<= ${TARGET_REST_MS}`, met: p95 <= TARGET_REST_MS },
    row('largest', Math.max(...sizes)),
  ];
}

import { assert } from '#kernel/core/assert.ts';
import { mean } from '#loadtest/statistics/sample.ts';
import type { Accounted, Burst, Loop } from './burn-stand.ts';
import { outsideBiasPct } from './calibrate.ts';
import { seriesError } from './series-error.ts';

/** `quiet`: nothing of ours beside it. `busy`: two busy loops, pinned nowhere. */
export type Condition = 'quiet' | 'busy';

/** Bursts of one size, ended in one way, under one condition. CPU time unless named otherwise. */
export interface AccuracyRow {
  readonly condition: Condition;
  readonly nominalMs: number;
  readonly loop: Loop;
  readonly n: number;
  readonly cpuMeanMs: number;
  readonly biasPct: number;
  readonly cvPct: number;
  /** Bias by the kernel's account of the thread, read by another one; null without /proc. */
  readonly outsideBiasPct: number | null;
  readonly wallMeanMs: number;
  /** Waiting on the run queue over waiting and running; null without /proc. */
  readonly readyShare: number | null;
  /** Of the product's loop: whether it keeps its bounds. */
  readonly met?: boolean;
}

export interface AccuracyTable {
  readonly rows: readonly AccuracyRow[];
  /** Steps a CPU-ms that the open loop went by, under each condition. */
  readonly stepsPerMs: Readonly<Record<Condition, number>>;
}

/** Bounds of the product's loop on |bias|, by the own and by the outside clock; from 50 ms on of the CV too. */
export function maxErrorPct(nominalMs: number): number {
  if (nominalMs >= 50) return 0.02;
  return nominalMs >= 5 ? 0.1 : 0.5;
}

/** Why no row of the product's loop is above its bound; a row without an outside clock has only its own. */
function keepsBounds(
  nominalMs: number,
  error: Pick<AccuracyRow, 'biasPct' | 'cvPct' | 'outsideBiasPct'>,
): boolean {
  const max = maxErrorPct(nominalMs);
  const within = (value: number): boolean => Math.abs(value) <= max;
  const outside = error.outsideBiasPct === null || within(error.outsideBiasPct);
  return within(error.biasPct) && outside && (nominalMs < 50 || within(error.cvPct));
}

/** Sums up the series of one row. `requestMs`: what a request costs by itself, by the outside clock. */
export function accuracyRow(
  { condition, nominalMs, loop }: Pick<AccuracyRow, 'condition' | 'nominalMs' | 'loop'>,
  results: readonly Accounted<readonly Burst[]>[],
  requestMs: number,
): AccuracyRow {
  const bursts = results.flatMap(({ value }) => value);
  assert(bursts.length > 1, 'a row has bursts');
  const cpuMs = bursts.map((burst) => burst.cpuMs);
  const n = bursts.length;
  const outside = outsideBiasPct(nominalMs, n, results, requestMs);
  const error = { ...seriesError(nominalMs, cpuMs), outsideBiasPct: outside };
  return {
    condition,
    nominalMs,
    loop,
    n,
    cpuMeanMs: mean(cpuMs),
    ...error,
    wallMeanMs: mean(bursts.map(({ wallMs }) => wallMs)),
    readyShare: readyShare(results),
    ...(loop === 'hybrid' ? { met: keepsBounds(nominalMs, error) } : {}),
  };
}

function readyShare(results: readonly Accounted<unknown>[]): number | null {
  let [cpuMs, readyMs] = [0, 0];
  for (const { account } of results) {
    if (account === null) return null;
    cpuMs += account.cpuMs;
    readyMs += account.readyMs;
  }
  return cpuMs + readyMs === 0 ? null : readyMs / (cpuMs + readyMs);
}

/** No row misses its bounds. */
export const allMet = ({ rows }: AccuracyTable): boolean => rows.every(({ met }) => met !== false);

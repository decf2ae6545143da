import { randomStream } from '#kernel/core/random.ts';
import { clusterBootstrap, type BootstrapMethod } from '#loadtest/statistics/bootstrap.ts';
import { quantile } from '#loadtest/statistics/quantile.ts';
import {
  coefficientOfVariation,
  mean,
  median,
  medianAbsoluteDeviation,
  standardDeviation,
  variance,
} from '#loadtest/statistics/sample.ts';
import { executionsOf, known, percent, type StudyCell } from './study-cells.ts';
import type { BurstRow } from './study-rows.ts';
import type { Estimate, TableRow } from './variability-summary.ts';

const LEVEL = 0.95;

/** One row of the table: intervals by resampling executions, since bursts of one are not independent. */
export function tableRow({ qos, demandMs, rows }: StudyCell, seed: number): TableRow {
  const executions = executionsOf(rows);
  const walls = rows.map(({ wallMs }) => wallMs);
  const cpu = rows.map(({ cpuMs }) => cpuMs);
  const estimate = (
    name: string,
    statistic: (values: readonly number[]) => number,
    method: BootstrapMethod,
  ): Estimate => {
    const clusters = executions.map((own) => own.map(({ wallMs }) => wallMs));
    const random = randomStream(seed, `bootstrap ${qos} ${demandMs} ${name}`);
    const {
      estimate: value,
      low,
      high,
    } = clusterBootstrap(clusters, statistic, {
      random,
      method,
      level: LEVEL,
    });
    return { value: known(value), low: known(low), high: known(high) };
  };
  // The acceleration of BCa is not defined for quantiles: their leave-one-out values jump.
  return {
    qos,
    demandMs,
    n: rows.length,
    executions: executions.length,
    meanMs: estimate('mean', mean, 'bca'),
    medianMs: estimate('median', median, 'percentile'),
    p95Ms: estimate('p95', (values) => quantile(values, 0.95), 'percentile'),
    sdMs: estimate('sd', standardDeviation, 'bca'),
    cvPct: estimate('cv', (values) => 100 * coefficientOfVariation(values), 'bca'),
    biasPct: estimate('bias', (values) => 100 * (mean(values) / demandMs - 1), 'bca'),
    ...cvSplit(executions),
    madPct: percent(medianAbsoluteDeviation(walls) / median(walls)),
    p95OverMedian: known(quantile(walls, 0.95) / median(walls)),
    cpuBiasPct: percent(mean(cpu) / demandMs - 1),
    cpuCvPct: percent(coefficientOfVariation(cpu)),
    readyShare: readyShare(rows),
  };
}

/** Within: pooled over executions by degrees of freedom. Between: over the executions' means. */
function cvSplit(
  executions: readonly (readonly BurstRow[])[],
): Pick<TableRow, 'withinCvPct' | 'betweenCvPct'> {
  const walls = executions.map((own) => own.map(({ wallMs }) => wallMs));
  const centre = mean(walls.flat());
  let [squares, degrees] = [0, 0];
  for (const own of walls) {
    if (own.length < 2) continue;
    squares += variance(own) * (own.length - 1);
    degrees += own.length - 1;
  }
  return {
    withinCvPct: percent(Math.sqrt(squares / degrees) / centre),
    betweenCvPct: percent(standardDeviation(walls.map(mean)) / centre),
  };
}

function readyShare(rows: readonly BurstRow[]): number | null {
  let [ready, wall] = [0, 0];
  for (const { readyMs, wallMs } of rows) {
    if (readyMs === null) return null;
    ready += readyMs;
    wall += wallMs;
  }
  return known(ready / wall);
}

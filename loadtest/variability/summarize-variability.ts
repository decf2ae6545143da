import { SUMMARY_SCHEMA } from '#loadtest/results/summary.ts';
import { coefficientOfVariation, median } from '#loadtest/statistics/sample.ts';
import { componentTable } from './component-table.ts';
import { detectableEffects } from './detectable-effects.ts';
import { tableRow } from './error-table.ts';
import { occupancyRelation } from './occupancy-relation.ts';
import { qosComparison } from './qos-comparison.ts';
import { cellsOf, known, percent } from './study-cells.ts';
import type { ExecutionRow } from './study-rows.ts';
import type { VariabilityRecords } from './variability-records.ts';
import type { CalibrationSpread, VariabilitySummary } from './variability-summary.ts';

/** The summary of a study: a pure function of its raw records. */
export function summarizeVariability(records: VariabilityRecords): VariabilitySummary {
  const { config, run, executions, bursts } = records;
  const { study } = config;
  const cells = cellsOf(study, bursts);
  const unfinished = run.planned - executions.length;
  const problems = [
    ...(run.interrupted
      ? [`Interrupted: ${executions.length} of ${run.planned} executions are complete`]
      : []),
    ...run.problems,
    ...(unfinished > 0 && !run.interrupted ? [`${unfinished} executions are missing`] : []),
  ];
  return {
    schema: SUMMARY_SCHEMA,
    kind: 'Variability',
    name: config.name,
    valid: problems.length === 0,
    problems,
    variability: {
      enforcement: run.enforcement,
      executions: { planned: run.planned, complete: executions.length },
      table: cells.map((cell) => tableRow(cell, study.seed)),
      components: componentTable(cells),
      occupancy: occupancyRelation(study, cells, executions),
      qos: qosComparison(study, cells),
      detectable: detectableEffects(study, cells),
      calibration: calibrationSpread(executions),
    },
    environment: records.environment,
  };
}

function calibrationSpread(executions: readonly ExecutionRow[]): CalibrationSpread {
  const rates = executions.flatMap(({ probe }) => (probe.rate === null ? [] : [probe.rate]));
  const spreads = executions.flatMap(({ probe }) => (probe.spread === null ? [] : [probe.spread]));
  return {
    executions: rates.length,
    rateMedian: known(median(rates)),
    rateCvPct: percent(coefficientOfVariation(rates)),
    spreadMedian: known(median(spreads)),
  };
}

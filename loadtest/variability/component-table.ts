import { mean } from '#loadtest/statistics/sample.ts';
import { varianceComponents } from '#loadtest/statistics/variance-components.ts';
import { known, percent, relativeError, type StudyCell } from './study-cells.ts';
import {
  LEVELS,
  type Component,
  type Components,
  type Level,
  type LevelComponents,
} from './variability-summary.ts';

/** Variance components of every cell, and their mean over the cells that can tell all levels. */
export function componentTable(cells: readonly StudyCell[]): Components {
  const variances = cells.map((cell) => cellVariances(cell));
  const whole = variances.filter((levels) => levels.every(Number.isFinite));
  const headline = LEVELS.map((_, level) =>
    mean(whole.map((levels) => levels[level] ?? Number.NaN)),
  );
  return {
    ...componentsOf(headline),
    reason: reasonOf(cells, whole.length),
    cells: cells.map(({ qos, demandMs }, index) => ({
      qos,
      demandMs,
      ...componentsOf(variances[index] ?? []),
    })),
  };
}

function cellVariances({ rows }: StudyCell): readonly number[] {
  const nested = rows.map((row) => ({
    groups: [row.node, String(row.execution), String(row.iteration)],
    value: relativeError(row),
  }));
  return varianceComponents(nested, LEVELS.length - 1).map(({ variance }) => variance);
}

function componentsOf(variances: readonly number[]): LevelComponents {
  const total = variances.reduce((sum, value) => (value > 0 ? sum + value : sum), 0);
  const component = (level: Level): Component => {
    const variance = variances[LEVELS.indexOf(level)] ?? Number.NaN;
    const positive = Math.max(0, variance);
    return {
      variance: known(variance),
      sdPct: percent(Math.sqrt(positive)),
      share: known(total === 0 ? Number.NaN : positive / total),
    };
  };
  return {
    node: component('node'),
    execution: component('execution'),
    iteration: component('iteration'),
    burst: component('burst'),
  };
}

function reasonOf(cells: readonly StudyCell[], whole: number): string | null {
  if (whole === cells.length && whole > 0) return null;
  const why =
    'two of each level are needed (nodes, executions, iterations, bursts); ' +
    'what a level without them contributes is in the level above';
  return whole === 0 ? `No cell can tell all levels: ${why}` : `Mean of ${whole} cells; ${why}`;
}

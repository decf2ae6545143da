import {
  LEVELS,
  type LevelComponents,
  type Variability,
} from '#loadtest/variability/variability-summary.ts';
import { html, type Html } from '../html.ts';
import { demandText, figure } from './figure-text.ts';
import { plainTable } from './plain-table.ts';

/** Whether nodes, executions, iterations or single bursts make the difference. */
export function componentsSection({ components, calibration }: Variability): Html {
  const cellsOf = (levels: LevelComponents): readonly string[] =>
    LEVELS.map((level) => {
      const { sdPct, share, variance } = levels[level];
      return variance === null ? '–' : `${figure(sdPct)} (${figure(percentOf(share))} %)`;
    });
  return html`<h2>What varies: variance components</h2>
    <p class="soft">
      Nested: bursts in iterations, iterations in executions (one process and one calibration each),
      executions on nodes. Method of moments on the relative error: standard deviation in % of
      nominal, and the share of the variance. ${components.reason ?? ''}
    </p>
    ${plainTable({
      caption: '– = the design cannot tell it from the level at its left',
      heads: ['class', 'demand', ...LEVELS],
      words: 2,
      rows: [
        ...components.cells.map((cell) => [cell.qos, demandText(cell.demandMs), ...cellsOf(cell)]),
        ['mean of cells', '', ...cellsOf(components)],
      ],
    })}
    <p>
      Calibrations: ${calibration.executions}; rate ${figure(calibration.rateMedian)} of the
      reference, CV ${figure(calibration.rateCvPct, ' %')} from execution to execution; p90 / p10
      within one ${figure(calibration.spreadMedian)}.
    </p>`;
}

const percentOf = (share: number | null): number | null => (share === null ? null : share * 100);

import type { QosRow, Variability } from '#loadtest/variability/variability-summary.ts';
import { html, type Html } from '../html.ts';
import { bounded, demandText, figure } from './figure-text.ts';
import { plainTable } from './plain-table.ts';

const WORDS: Readonly<Record<QosRow['verdict'], string>> = {
  equivalent: 'equal within the margin',
  different: 'different',
  undecided: 'undecided',
};

/** Guaranteed against best-effort, in pairs. */
export function qosSection({ qos, enforcement }: Variability): Html {
  if (qos.reason !== null) {
    return html`<h2>Best-effort or guaranteed?</h2>
      <p>No comparison: ${qos.reason}.</p>`;
  }
  return html`<h2>Best-effort or guaranteed?</h2>
    <p class="soft">
      Pairs: executions of the same number on the same node, by their median error. Shift:
      guaranteed less best-effort, in % of the demand (Hodges-Lehmann). Stated beforehand: a shift
      within ± ${qos.marginPct} % counts as none, and an interval wholly inside says that the
      classes are equal for the purpose.
      ${enforcement.enforced ? '' : 'Here the classes are names: nothing enforced them.'}
    </p>
    ${plainTable({
      caption: 'The level is what so few pairs can reach',
      heads: ['demand', 'pairs', 'shift (%)', 'level', "Cliff's delta", 'effect', 'verdict'],
      rows: qos.demands.map((row) => [
        demandText(row.demandMs),
        row.pairs,
        bounded(row.shiftPct),
        `${(row.level * 100).toFixed(1)} %`,
        figure(row.cliffsDelta),
        row.effect ?? '–',
        WORDS[row.verdict],
      ]),
    })}`;
}

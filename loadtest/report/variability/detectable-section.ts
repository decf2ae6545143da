import type { Detectable, Variability } from '#loadtest/variability/variability-summary.ts';
import { html, type Html } from '../html.ts';
import { chance, demandText, figure } from './figure-text.ts';
import { plainTable } from './plain-table.ts';

/** What this design could not have seen, whatever came out. */
export function detectableSection({ detectable, occupancy }: Variability): Html {
  const { sdFactors, power, alpha } = detectable;
  return html`<h2>What this design could have shown at all</h2>
    <p class="soft">
      With a chance of ${power * 100} % at the ${alpha * 100} % level. A difference below these is
      not absent: the design cannot see it. More executions and nodes help; more bursts hardly do.
    </p>
    <ul>
      ${correlationItem(detectable, occupancy.pods.smallestP)}
      <li>
        A node's standard deviation over its executions is known to a factor between
        ${figure(sdFactors.low)} and ${figure(sdFactors.high)} (95 %).
      </li>
    </ul>
    ${
      detectable.qosShift.length === 0
        ? null
        : plainTable({
            caption: 'Shift between the classes, given the scatter of the pairs',
            heads: ['demand', 'pairs', 'smallest shift (% of the demand)'],
            rows: detectable.qosShift.map(({ demandMs, pairs, detectablePct }) => [
              demandText(demandMs),
              pairs,
              figure(detectablePct),
            ]),
          })
    }
    ${plainTable({
      caption: 'Differences between nodes, given the scatter of executions',
      heads: ['class', 'demand', 'smallest SD between nodes (% of the demand)'],
      words: 2,
      rows: detectable.nodeSd.map(({ qos, demandMs, detectablePct }) => [
        qos,
        demandText(demandMs),
        figure(detectablePct),
      ]),
    })}`;
}

function correlationItem({ correlation, power, alpha }: Detectable, tiedP: number | null): Html {
  const { nodes, smallestP } = correlation;
  if (correlation.detectable === null) {
    return html`<li>
      Correlation: ${nodes} nodes are too few for any statement; use four or more.
    </li>`;
  }
  const hopeless = smallestP !== null && smallestP > alpha;
  return html`<li>
    Correlation with ${nodes} nodes: |r| from ${figure(correlation.critical)} on is significant; a
    true correlation has to be ${figure(correlation.detectable)}. A true 0.5 would show with a
    chance of ${figure(percentOf(correlation.powerAtHalf))} %; ${figure(correlation.nodesForHalf)}
    nodes are needed for ${power * 100} %. The smallest p of the exact test is
    ${chance(smallestP)}${tiedP === null ? '' : ` (${chance(tiedP)} with the pods' ties)`}.
    ${hopeless ? html`<strong>No order of so few nodes can be significant.</strong>` : null}
  </li>`;
}

const percentOf = (share: number | null): number | null => (share === null ? null : share * 100);

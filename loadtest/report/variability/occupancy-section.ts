import type { Relation, Variability } from '#loadtest/variability/variability-summary.ts';
import { html, type Html, type Insertable } from '../html.ts';
import { bounded, chance, demandText, figure } from './figure-text.ts';
import { plainTable } from './plain-table.ts';

/** Whether busier nodes vary more. */
export function occupancySection({ occupancy }: Variability): Html {
  const cells = occupancy.cells.flatMap(({ qos, demandMs, pods, millicores }) => [
    relationRow([qos, demandText(demandMs), 'pods'], pods),
    relationRow([qos, demandText(demandMs), 'millicores'], millicores),
  ]);
  return html`<h2>Does a busy node vary more?</h2>
    <p class="soft">
      Measured before each execution, without the probe: other processes of the node (pods) and the
      CPU they consumed. The whole machine's CPU is shared by all local nodes. CV: mean over classes
      and demands.
    </p>
    ${plainTable({
      caption: 'Means over the executions of a node',
      heads: ['node', 'pods', 'millicores', 'machine, millicores', 'CV (%)'],
      rows: occupancy.nodes.map(({ node, pods, millicores, machineMillicores, cvPct }) => [
        node,
        figure(pods),
        figure(millicores),
        figure(machineMillicores),
        figure(cvPct),
      ]),
    })}
    ${reasonOf(occupancy.pods)}
    ${plainTable({
      caption:
        'CV against occupancy, over nodes: Spearman with a bootstrap interval and a permutation test ' +
        '(two-sided); Pearson beside it. Of many rows some are small by chance',
      heads: ['class', 'demand', 'against', 'nodes', 'Spearman', 'p', 'Pearson', 'p'],
      words: 3,
      rows: [
        relationRow(['mean of all', '', 'pods'], occupancy.pods),
        relationRow(['mean of all', '', 'millicores'], occupancy.millicores),
        ...cells,
      ],
    })}`;
}

const reasonOf = ({ reason }: Relation): Html | null =>
  reason === null ? null : html`<p>No correlation: ${reason}.</p>`;

const relationRow = (names: readonly string[], relation: Relation): readonly Insertable[] => [
  ...names,
  String(relation.nodes),
  bounded(relation.spearman),
  `${chance(relation.pValue)}${relation.pValue !== null && relation.exact ? ' (exact)' : ''}`,
  figure(relation.pearson),
  chance(relation.pearsonP),
];

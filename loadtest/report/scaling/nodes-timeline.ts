import type { DecisionRow } from '#infra/local/cluster-records.ts';
import { html, type Html } from '#loadtest/report/html.ts';
import type { MeasuredSpan } from '#loadtest/results/scaling-summary.ts';
import { timelinePanel } from './timeline-panel.ts';

/** Nodes and how busy they were, where the node-based policy was at work; else nothing. */
export function nodesTimeline(
  decisions: readonly DecisionRow[],
  { fromMs, untilMs }: MeasuredSpan,
): Html | null {
  const rows = decisions
    .filter((row) => row.kind === 'nodeDecision')
    .filter(({ atMs }) => atMs >= fromMs && atMs <= untilMs);
  if (rows.length === 0) return null;
  const span = { fromS: 0, untilS: Math.max(1, (untilMs - fromMs) / 1_000) };
  const seconds = (atMs: number): number => (atMs - fromMs) / 1_000;
  const count = rows.map(
    ({ atMs, observation }) =>
      [seconds(atMs), observation.nodes.filter(({ available }) => available).length] as const,
  );
  const asked = rows.map(({ atMs, decision }) => [seconds(atMs), decision.nodes] as const);
  const busy = rows.map(({ atMs, decision }) => {
    const { average } = decision.details;
    return [seconds(atMs), typeof average === 'number' ? average : null] as const;
  });
  return html`<h3>Nodes</h3>
    <div class="panels">
      ${timelinePanel(
        {
          title: 'Nodes',
          unit: '',
          atLeast: 1,
          series: [
            { name: 'available', colour: 3, area: true, points: count },
            { name: 'wanted', colour: 1, points: asked },
          ],
        },
        span,
        false,
      )}
      ${timelinePanel(
        {
          title: 'Average utilisation of the available nodes',
          unit: '',
          atLeast: 1,
          series: [{ name: 'CPU used ÷ CPU share', colour: 2, points: busy }],
        },
        span,
        true,
      )}
    </div>`;
}

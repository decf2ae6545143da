import { COLD_START_PARTS } from '#kernel/core/phases.ts';
import { html, type Html } from '#loadtest/report/html.ts';
import { countText, durationText } from '#loadtest/report/number-text.ts';
import type { ColdStartShare } from '#loadtest/tracing/trace-analysis.ts';

/** Which share of the slow traces' time is cold start, by stage and by part of a start. */
export function coldShareTable(shares: readonly ColdStartShare[]): Html {
  if (shares.length === 0) return html`<p>No trace is complete.</p>`;
  const stages = [...new Set(shares.flatMap(({ byStage }) => Object.keys(byStage)))];
  const rows = shares.map((share) => {
    const { quantile, traces, coldStartMs, byStage, byPartMs } = share;
    return html`<tr>
      <th scope="row" class="n">total ≥ ${quantile}</th>
      <td class="n">${countText(traces)}</td>
      <td class="n">${durationText(coldStartMs)}</td>
      <td class="n"><b>${percent(share.share)}</b></td>
      ${stages.map((stage) => html`<td class="n">${percent(byStage[stage]?.share ?? 0)}</td>`)}
      ${COLD_START_PARTS.map(
        (part) => html`<td class="n">${durationText(byPartMs[part] ?? 0)}</td>`,
      )}
    </tr>`;
  });
  return html`<p class="soft">
      Means over the slow traces, those whose total is the quantile or more: time spent waiting for
      a replica to start and its share of the total, which stages' starts these were, and which part
      of a start.
    </p>
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th scope="col" class="n">traces</th>
            <th scope="col" class="n">how many</th>
            <th scope="col" class="n">cold start</th>
            <th scope="col" class="n">share</th>
            ${stages.map((stage) => html`<th scope="col" class="n">${stage}</th>`)}
            ${COLD_START_PARTS.map((part) => html`<th scope="col" class="n">${part}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${rows}
        </tbody>
      </table>
    </div>`;
}

const percent = (share: number): string =>
  share === 0 ? '0 %' : `${(100 * share).toPrecision(share < 0.1 ? 2 : 3)} %`;

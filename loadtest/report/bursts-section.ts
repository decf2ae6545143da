import { html } from './html.ts';
import { countText, durationText } from './number-text.ts';
import type { Html } from './html.ts';
import type { BurstSummary } from '#loadtest/results/burst-summary.ts';
import type { Quantiles } from '#loadtest/results/quantiles.ts';
import type { RunConfig } from '#loadtest/results/run-records.ts';
import type { Summary } from '#loadtest/results/summary.ts';

/** What the stages' demands consumed; nothing where no stage had one. */
export function burstsSection(stages: Summary['stages'], config: RunConfig): Html | null {
  const demands = config.kind === 'Run' ? config.demands : {};
  const rows = Object.entries(stages).flatMap(([name, stage]) =>
    'bursts' in stage && stage.bursts !== undefined
      ? [burstsRow(name, demands[name]?.demand ?? '', stage.bursts)]
      : [],
  );
  if (rows.length === 0) return null;
  const heads = ['bursts', 'aborted', 'not read', 'CPU', 'CPU over asked', 'elapsed'];
  const waits = ['waiting for a CPU', 'rest', 'waiting for a burner'];
  return html`<h2>Demands</h2>
    <p class="soft">
      What the stages were told to consume and did. Times of CPU bursts, median and 95 %. Elapsed
      time is CPU time, waiting for a CPU and the rest.
    </p>
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th scope="col">stage</th>
            <th scope="col">demand</th>
            ${[...heads, ...waits].map((head) => html`<th scope="col" class="n">${head}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${rows}
        </tbody>
      </table>
    </div>`;
}

function burstsRow(name: string, demand: string, bursts: BurstSummary): Html {
  const { cpuMs, cpuErrorMs, wallMs, readyMs, restMs, queuedMs } = bursts;
  return html`<tr>
    <th scope="row">${name}</th>
    <td>${demand}</td>
    <td class="n">${countText(bursts.n)}</td>
    <td class="n">${countText(bursts.aborted)}</td>
    <td class="n">${countText(bursts.lost)}</td>
    ${[cpuMs, cpuErrorMs, wallMs, readyMs, restMs, queuedMs].map(
      (quantiles) => html`<td class="n">${middleAndTail(quantiles)}</td>`,
    )}
  </tr>`;
}

const middleAndTail = ({ p50, p95 }: Quantiles): string =>
  `${durationText(p50)} / ${durationText(p95)}`;

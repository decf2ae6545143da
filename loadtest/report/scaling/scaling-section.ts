import type { DecisionRow } from '#infra/local/cluster-records.ts';
import { html, type Html } from '#loadtest/report/html.ts';
import { durationText } from '#loadtest/report/number-text.ts';
import type { ScaledBy } from '#loadtest/results/policy-rows.ts';
import type { MeasuredSpan, ScalingRecords } from '#loadtest/results/scaling-summary.ts';
import type { StageSummary, Summary } from '#loadtest/results/summary.ts';
import { coldStartSection } from './cold-start-section.ts';
import { decisionsSection } from './decisions-section.ts';
import { nodesTimeline } from './nodes-timeline.ts';
import { stageTimeline } from './stage-timeline.ts';

export interface ScalingInput {
  readonly records: ScalingRecords;
  readonly decisions: readonly DecisionRow[];
  readonly measured: MeasuredSpan;
  readonly policy: string;
  readonly scaledBy: readonly ScaledBy[];
  readonly stages: Summary['stages'];
}

/** How the stages were scaled: totals, the time-line of each, cold starts, decisions, settings. */
export function scalingSection(input: ScalingInput): Html {
  const { records, measured, decisions, policy } = input;
  // As in the YAML, which follows the way of the data.
  const names = [...new Set(records.samples.map(({ service }) => service))];
  const within = ({ atMs }: { readonly atMs: number }): boolean =>
    atMs >= measured.fromMs && atMs <= measured.untilMs;
  const coldStarts = records.coldStarts.filter(
    ({ listeningMs }) => listeningMs >= measured.fromMs && listeningMs <= measured.untilMs,
  );
  const timelines = names.map((name) =>
    stageTimeline(
      name,
      {
        samples: records.samples.filter((row) => row.service === name && within(row)),
        coldStarts: coldStarts.filter(({ service }) => service === name),
      },
      measured,
    ),
  );
  const made = decisions.filter((row) => row.kind === 'decision').filter(within);
  return html`<h2>Scaling: ${policy}</h2>
    ${totals(input)} ${nodesTimeline(decisions, measured)} ${timelines}
    ${coldStartSection(coldStarts)} ${decisionsSection(made, measured.fromMs)}
    ${settings(input.scaledBy)}`;
}

function totals({ stages }: ScalingInput): Html {
  const rows = Object.entries(stages)
    .filter((entry): entry is [string, Required<StageSummary>] => 'replicasMax' in entry[1])
    .map(([name, stage]) => {
      const cells = [
        String(stage.replicasMax),
        String(stage.coldStarts),
        durationText(stage.coldStartMs.p50),
        durationText(stage.coldStartMs.p95),
        stage.replicaSeconds.toFixed(1),
        stage.cpuSeconds.toFixed(2),
      ];
      return html`<tr>
        <th scope="row">${name}</th>
        ${cells.map((cell) => html`<td class="n">${cell}</td>`)}
        <td>${stage.backToZero ? 'yes' : 'no'}</td>
      </tr>`;
    });
  const heads = [
    'replicas, most',
    'cold starts',
    'cold start p50',
    'p95',
    'replica-seconds',
    'CPU-seconds',
  ];
  return html`<div class="scroll">
    <table>
      <caption>
        From the beginning of the load to the end of watching (– = too few cold starts)
      </caption>
      <thead>
        <tr>
          <th scope="col">stage</th>
          ${heads.map((head) => html`<th scope="col" class="n">${head}</th>`)}
          <th scope="col">back to zero</th>
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
}

/** Every period and threshold at work: figures of two policies compare only beside these. */
function settings(scaledBy: readonly ScaledBy[]): Html {
  return html`<h2>Policies and their periods</h2>
    ${scaledBy.map(
      ({ service, policy, module, periodMs, config }) =>
        html`<details>
          <summary>
            ${service}: ${module ?? policy}, a decision every ${durationText(periodMs)}
          </summary>
          <pre class="path">${JSON.stringify(config, undefined, 2) ?? 'no settings'}</pre>
        </details>`,
    )}`;
}

import { cellsOf } from '#loadtest/variability/study-cells.ts';
import type { Study } from '#loadtest/variability/study.ts';
import type { VariabilityRecords } from '#loadtest/variability/variability-records.ts';
import type { VariabilitySummary } from '#loadtest/variability/variability-summary.ts';
import { html, Html } from '../html.ts';
import { countText, durationText } from '../number-text.ts';
import { STYLE } from '../style.ts';
import { BOX_STYLE } from './box-plots.ts';
import { componentsSection } from './components-section.ts';
import { detectableSection } from './detectable-section.ts';
import { errorSection } from './error-section.ts';
import { demandText } from './figure-text.ts';
import { occupancySection } from './occupancy-section.ts';
import { plainTable } from './plain-table.ts';
import { qosSection } from './qos-section.ts';

/** The report of a study as one HTML document that loads nothing. */
export function renderVariability(
  records: VariabilityRecords,
  summary: VariabilitySummary,
): string {
  const { config, run, bursts } = records;
  const { variability } = summary;
  const cells = cellsOf(config.study, bursts);
  const title = `Variability of ${run.startedAt.slice(0, 19).replace('T', ' ')} UTC`;
  const document = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta
          http-equiv="Content-Security-Policy"
          content="default-src 'none'; style-src 'unsafe-inline'"
        />
        <title>Tachograph: ${title}</title>
        <style>
          ${new Html(STYLE + BOX_STYLE)}
        </style>
      </head>
      <body>
        <header>
          <h1>${title}</h1>
          ${verdict(summary)} ${enforcement(summary)}
        </header>
        <main>
          ${problems(summary.problems)} ${facts(records)}
          ${errorSection(variability, config.study, cells)} ${componentsSection(variability)}
          ${occupancySection(variability)} ${qosSection(variability)}
          ${detectableSection(variability)} ${designSection(config.study)}
          ${environmentSection(records)}
        </main>
      </body>
    </html> `;
  return document.text;
}

function verdict({ valid, variability }: VariabilitySummary): Html {
  const { complete, planned } = variability.executions;
  return valid
    ? html`<p><span class="verdict good">✓ valid</span> All ${planned} executions are complete.</p>`
    : html`<p>
        <span class="verdict bad">✗ not valid</span> ${complete} of ${planned} executions are
        complete.
      </p>`;
}

function enforcement({ variability }: VariabilitySummary): Html {
  const { enforced, cgroup, detail } = variability.enforcement;
  return enforced
    ? html`<p>Nodes are groups of processes with CPU quota and weight (cgroup ${cgroup}).</p>`
    : html`<p>
        <strong>Not enforced:</strong> nodes and classes are names only, all share the machine
        (${detail}).
      </p>`;
}

function problems(list: readonly string[]): Html | null {
  if (list.length === 0) return null;
  return html`<section class="problems">
    <h2>Problems</h2>
    <ul>
      ${list.map((problem) => html`<li>${problem}</li>`)}
    </ul>
  </section>`;
}

function facts({ config, run, executions, bursts }: VariabilityRecords): Html {
  const { study } = config;
  const list: readonly (readonly [string, string])[] = [
    [countText(study.nodes.length), 'nodes'],
    [study.demands.map(({ ms }) => demandText(ms)).join(', '), `of ${kindText(study)}`],
    [countText(executions.length), 'executions, each a fresh process'],
    [countText(bursts.length), 'bursts'],
    [durationText(run.durationMs), 'in all'],
  ];
  return html`<ul class="facts">
    ${list.map(([value, name]) => html`<li><b>${value}</b>${name}</li>`)}
  </ul>`;
}

const kindText = ({ kind, rate }: Study): string =>
  kind === 'cpuTime' ? 'CPU time' : `work at the ${rate} rate`;

function designSection(study: Study): Html {
  const bursts = study.demands.map(({ ms, bursts }) => `${bursts} of ${demandText(ms)}`);
  return html`<h2>Design</h2>
    <p>
      ${study.nodes.length} nodes × ${study.qos.join(' and ')} × ${study.executions} executions,
      each with ${study.iterations} iterations of ${bursts.join(', ')}. Block k holds execution k of
      every node and class in an order drawn for it; within an execution, each iteration draws the
      order of its demands. Seed ${study.seed}. Best-effort: no request, no limit; guaranteed:
      requests = limits = ${study.limitMillicores} millicores.
    </p>
    ${plainTable({
      caption: 'Nodes',
      heads: ['node', 'CPU (millicores)', 'busy neighbours'],
      rows: study.nodes.map(({ name, millicores, neighbours }) => [name, millicores, neighbours]),
    })}`;
}

function environmentSection({ environment, executions }: VariabilityRecords): Html {
  const probe = executions[0]?.probe;
  const commit =
    environment.gitCommit === null
      ? 'not known'
      : `${environment.gitCommit}${environment.gitDirty === true ? ', with changes' : ''}`;
  return html`<h2>Environment</h2>
    ${plainTable({
      caption: 'Of the machine, and of the first probe',
      heads: ['what', 'value'],
      words: 2,
      rows: [
        ['CPU', `${environment.cpuModel}, ${environment.cores} cores`],
        ['system', environment.os],
        ['Node', environment.node],
        ['commit', commit],
        ['CPUs the probe may use', probe?.cpusAllowed ?? 'not known'],
        ['CPU clock', probe?.clock ?? 'not known'],
        ['kernel of the demand', probe?.kernelSha256 ?? 'not known'],
      ],
    })}`;
}

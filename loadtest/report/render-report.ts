import { arrivalsText, type Arrivals } from '#loadtest/arrivals/arrival-times.ts';
import { EXPORT_FOLDER } from '#loadtest/results/result-folder.ts';
import { burstsSection } from './bursts-section.ts';
import { filesSection } from './files-section.ts';
import { histogram } from './histogram.ts';
import { html, Html } from './html.ts';
import { ledgerSection } from './ledger-section.ts';
import { linePlot } from './line-plot.ts';
import { countText, durationText } from './number-text.ts';
import { pipelinePicture } from './pipeline-picture.ts';
import { environmentSection, stagesSection, vehiclesSection } from './run-sections.ts';
import { scalingSection, type ScalingInput } from './scaling/scaling-section.ts';
import { STYLE } from './style.ts';
import { filterScriptSource } from './tracing/filter-script.ts';
import { TRACE_STYLE } from './tracing/phase-key.ts';
import { tracesSection } from './tracing/traces-section.ts';
import type { Ledger } from '#loadtest/ledger/account.ts';
import type { ExportCard } from '#loadtest/ledger/ledger-fact.ts';
import type { RunConfig, RunOutcome } from '#loadtest/results/run-records.ts';
import type { Summary } from '#loadtest/results/summary.ts';
import type { TraceAnalysis } from '#loadtest/tracing/trace-analysis.ts';
import type { BatchRecord } from '#loadtest/vehicles/batch-record.ts';
import type { LinePlot } from './line-plot.ts';

export interface ReportInput {
  readonly config: RunConfig;
  readonly run: RunOutcome;
  readonly summary: Summary;
  readonly ledger: Ledger;
  readonly records: readonly BatchRecord[];
  /** The compacted data sets. */
  readonly exports: readonly ExportCard[];
  /** What its spans say; null where it was not traced. */
  readonly traces: TraceAnalysis | null;
  /** How the stages were scaled; null where the run had no cluster of its own. */
  readonly scaling: ScalingInput | null;
  /** Plots of one session's signals, and whose they are; null where there is no file to plot. */
  readonly plots: { readonly of: string; readonly plots: readonly LinePlot[] } | null;
}

/** The report as one HTML document that loads nothing. */
export function renderReport(input: ReportInput): string {
  const { config, run, summary, ledger } = input;
  const at = `${run.startedAt.slice(0, 19).replace('T', ' ')} UTC`;
  const what = config.policy === undefined ? '' : ` ${config.name}, ${config.policy},`;
  const title = `${config.kind}${what} of ${at}`;
  const files = input.exports.reduce((sum, card) => sum + card.files.length, 0);
  const document = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta http-equiv="Content-Security-Policy" content="${policyOf(input)}" />
        <title>Tachograph: ${title}</title>
        <style>
          ${new Html(STYLE)}${input.traces === null ? null : new Html(TRACE_STYLE)}
        </style>
      </head>
      <body>
        <header>
          <h1>${title}</h1>
          ${verdict(summary)}
        </header>
        <main>
          ${problems(summary.problems)} ${facts(input)}
          <h2>The way of the data</h2>
          ${pipelinePicture(ledger.account, run.vehicles.length, files)} ${latencySection(input)}
          ${input.scaling === null ? null : scalingSection(input.scaling)}
          ${input.traces === null ? null : tracesSection(input.traces)}
          ${config.kind === 'Demo' ? signalsSection(input) : null} ${ledgerSection(ledger)}
          ${vehiclesSection(input.records)} ${stagesSection(summary.stages)}
          ${burstsSection(summary.stages, config)}
          ${config.kind === 'Demo' ? filesSection(input.exports, EXPORT_FOLDER) : null}
          ${environmentSection(summary, config, run)}
        </main>
      </body>
    </html> `;
  return document.text;
}

/** Nothing is loaded from anywhere, and no script runs but the one that is part of the page. */
function policyOf({ traces }: ReportInput): Html {
  const scripts = traces === null ? '' : `; script-src ${filterScriptSource()}`;
  return new Html(`default-src 'none'; style-src 'unsafe-inline'${scripts}`);
}

function verdict({ valid, ledger }: Summary): Html {
  const text = ledger.balanced ? 'the ledger balances' : 'the ledger does not balance';
  return valid
    ? html`<p>
        <span class="verdict good">✓ valid</span> Everything that was sent came out; ${text}.
      </p>`
    : html`<p><span class="verdict bad">✗ not valid</span> See the problems below; ${text}.</p>`;
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

function arrivalFact(arrivals: Arrivals, time: string): readonly [string, string] {
  if (arrivals.kind !== 'step') {
    return [`${arrivals.ratePerS}/s`, `${arrivals.kind} arrivals for ${time}`];
  }
  const peakPerS = Math.max(0, ...arrivals.levels.map(({ ratePerS }) => ratePerS));
  return [`${peakPerS}/s`, `at most: ${arrivalsText(arrivals)}, for ${time}`];
}

/** What was done, as numbers and their names. */
function loadFacts({ config, run, summary }: ReportInput): readonly (readonly [string, string])[] {
  const vehicles = countText(run.vehicles.length);
  const { batches, frames } = summary.ledger;
  if (config.kind === 'Run') {
    const { arrivals, durationMs } = config.load;
    return [
      [vehicles, 'vehicles send emulated batches'],
      arrivalFact(arrivals, durationText(durationMs)),
      [countText(batches.sent), 'batches sent'],
    ];
  }
  return [
    [vehicles, `vehicles replay ${durationText(config.drive.durationMs)} of driving`],
    [`${config.speed} ×`, 'real time'],
    [countText(batches.sent), 'batches sent'],
    [countText(frames.recorded), 'frames recorded'],
  ];
}

function facts(input: ReportInput): Html {
  const { latencyMs } = input.summary;
  const list: readonly (readonly [string, string])[] = [
    ...loadFacts(input),
    [durationText(latencyMs.p50), 'median latency, intended time to files'],
    [durationText(latencyMs.p95), '95 % of batches within'],
  ];
  return html`<ul class="facts">
    ${list.map(([value, name]) => html`<li><b>${value}</b>${name}</li>`)}
  </ul>`;
}

function latencySection({ records, summary }: ReportInput): Html {
  const { p50, p95, p99, max, n } = summary.latencyMs;
  const values = records.flatMap(({ exportedMs, intendedMs }) =>
    exportedMs === null ? [] : [exportedMs - intendedMs],
  );
  const vehicles = summary.stages['vehicles'];
  const late = vehicles !== undefined && 'lateMs' in vehicles ? vehicles.lateMs : null;
  const lateness =
    late === null
      ? ''
      : `The load generator itself was late by ${durationText(late.p50)} (median) to ` +
        `${durationText(late.max)}; that is included.`;
  const marks = [
    { name: 'p50', value: p50 },
    { name: 'p95', value: p95 },
    { name: 'p99', value: p99 },
    { name: 'max', value: max },
  ];
  return html`<h2>Latency</h2>
    <p class="soft">
      Of each batch, from the time it was meant to be sent to the arrival of the announcement that
      the files of its window are written; ${countText(n)} batches. ${lateness}
    </p>
    <div class="charts">
      ${histogram(values, marks)}
      <table>
        <caption>
          Quantiles (– = too few batches)
        </caption>
        <tbody>
          ${marks.map(
            ({ name, value }) =>
              html`<tr>
                <th scope="row">${name}</th>
                <td class="n">${durationText(value)}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`;
}

function signalsSection({ plots, run }: ReportInput): Html {
  if (plots === null || plots.plots.length === 0) {
    return html`<h2>Signals</h2>
      <p>No Parquet file of a completed session to plot.</p>`;
  }
  const others = run.vehicles.length > 1 ? ' The other vehicles replayed the same drive.' : '';
  return html`<h2>Signals</h2>
    <p class="soft">
      Read from the exported Parquet files of ${plots.of}: minimum and maximum per pixel of every
      recorded frame.${others}
    </p>
    <div class="charts">${plots.plots.map((plot) => linePlot(plot))}</div>`;
}

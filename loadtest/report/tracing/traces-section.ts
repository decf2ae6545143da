import type { Phase } from '#kernel/core/phases.ts';
import { html, type Html } from '#loadtest/report/html.ts';
import { countText, durationText, significant } from '#loadtest/report/number-text.ts';
import { stageBreakdowns } from '#loadtest/tracing/stage-breakdown.ts';
import type {
  BatchTrace,
  KeptFor,
  KeptTrace,
  TraceAnalysis,
  TracesSummary,
} from '#loadtest/tracing/trace-analysis.ts';
import { breakdownBars } from './breakdown-bars.ts';
import { coldShareTable } from './cold-share-table.ts';
import { filterScript } from './filter-script.ts';
import { phaseKey } from './phase-key.ts';
import { waterfallPicture } from './waterfall-picture.ts';

const KINDS: readonly KeptFor[] = ['slowest', 'cold', 'failed', 'median'];

/** Where the time went, from the vehicle to the exported file. */
export function tracesSection(traces: TraceAnalysis): Html {
  const { summary, coldStart, kept } = traces;
  return html`<h2>Traces</h2>
    ${account(summary)} ${clocks(summary)}
    <h2>Where the time goes</h2>
    <p class="soft">
      On the way of a batch, from its intended send time to the arrival of its window's
      announcement. Each bar is one trace: of the whole way, or of each stage, the one whose time
      there is that quantile (by nearest rank), so that its parts add up.
    </p>
    ${breakdownBars(stageBreakdowns(traces.traces))}
    <h2>What is cold start of it</h2>
    ${coldShareTable(coldStart)} ${keptSection(kept, summary)}`;
}

function account(summary: TracesSummary): Html {
  const { expected, complete, parked, duplicates, incomplete } = summary;
  const facts: readonly (readonly [string, string])[] = [
    [
      `${countText(complete)} of ${countText(expected)}`,
      'sampled traces of stored batches are complete',
    ],
    [countText(parked + duplicates), 'end for a stated reason: parked or duplicate'],
    [countText(incomplete), 'end without one'],
    [residualText(summary), 'no phase covers, at p99 (maximum below 100 traces)'],
    [countText(summary.orphanSpans), 'spans without their parent'],
    [countText(summary.droppedSpans), 'spans dropped'],
  ];
  return html`<ul class="facts">
    ${facts.map(([value, name]) => html`<li><b>${value}</b>${name}</li>`)}
  </ul>`;
}

function residualText({
  residualMsP99,
  residualPctP99,
  residualMsMax,
  residualPctMax,
}: TracesSummary) {
  const ms = residualMsP99 ?? residualMsMax;
  const pct = residualPctP99 ?? residualPctMax;
  if (ms === null || pct === null) return '–';
  const time = ms < 0.1 ? `${Math.round(ms * 1_000)} µs` : durationText(ms);
  return `${time}, ${pct < 0.01 ? '< 0.01' : pct.toPrecision(2)} %`;
}

function clocks({ clocks: rows, clockFaults }: TracesSummary): Html | null {
  if (rows.length === 0) return null;
  const faults =
    clockFaults === 0
      ? 'No trace has an effect before its cause.'
      : `${countText(clockFaults)} traces have an effect before its cause.`;
  return html`<details>
    <summary>Clocks: ${rows.length} beside the local cluster's. ${faults}</summary>
    <div class="scroll">
      <table>
        <caption>
          By how much each is ahead of the local cluster's clock, as the order of cause and effect
          bounds it. Nothing was shifted.
        </caption>
        <thead>
          <tr>
            <th scope="col">clock of</th>
            <th scope="col" class="n">offset ± bound</th>
            <th scope="col" class="n">pairs of spans</th>
            <th scope="col">bounds</th>
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            ({ instance, offsetMs, boundMs, pairs, consistent }) =>
              html`<tr>
                <th scope="row">${instance}</th>
                <td class="n">${significant(offsetMs)} ± ${significant(boundMs)} ms</td>
                <td class="n">${countText(pairs)}</td>
                <td>
                  ${consistent ? 'agree' : html`<span class="bad">contradict each other</span>`}
                </td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </details>`;
}

function keptSection(kept: readonly KeptTrace[], { expected }: TracesSummary): Html {
  const phases = new Set<Phase>(
    kept.flatMap(({ spans, trace }) => [
      ...spans.flatMap(({ marks }) => marks.map(({ phase }) => phase)),
      ...trace.path.map(({ phase }) => phase),
    ]),
  );
  const total = countText(expected);
  return html`<h2>Waterfalls</h2>
    <p class="soft">
      ${kept.length} of ${total} traces: the slowest, the cold and the failed ones, and those around
      the median. Any other one: <code>npx tachograph trace VEHICLE/SEQ</code>.
    </p>
    ${filters()} ${phaseKey(phases)} ${kept.map(keptTrace)} ${filterScript()}`;
}

const filters = (): Html =>
  html`<form id="trace-filters" class="filters" hidden>
    <label
      >vehicle, session, batch or trace id
      <input type="search" name="words" autocomplete="off" placeholder="veh-0001 17"
    /></label>
    <div class="kinds">
      ${KINDS.map(
        (kind) => html`<label><input type="checkbox" value="${kind}" checked /> ${kind}</label>`,
      )}
    </div>
    <output id="traces-shown" class="soft"></output>
  </form>`;

function keptTrace({ trace, keptFor, spans }: KeptTrace): Html {
  const { vehicle, session, seq, traceId } = trace;
  const name = `${vehicle}/${session}/${seq}`;
  const text = `${vehicle} ${session} ${seq} ${traceId} ${name}`.toLowerCase();
  return html`<details class="trace" data-text="${text}" data-kept="${keptFor.join(' ')}">
    <summary>
      <b>${trace.totalMs === null ? trace.state : durationText(trace.totalMs)}</b> ${name}
      ${keptFor.map((why) => html`<span class="why">${why}</span>`)}
    </summary>
    <p class="soft">
      trace <code>${traceId}</code>; ${sentence(trace)}
      ${trace.clockFaults.map((fault) => html`<br /><span class="bad">${fault}</span>`)}
    </p>
    ${waterfallPicture(trace, spans)} ${pathTable(trace)}
  </details>`;
}

function sentence(trace: BatchTrace): string {
  if (trace.totalMs === null) return `${trace.state}: ${trace.reason}`;
  const said = [
    `nothing covers ${durationText(trace.residualMs)} of it`,
    ...(trace.cold ? ['it waited for a replica to start'] : []),
    ...(trace.failed ? ['with a failure or a repeated attempt'] : []),
    ...(trace.waitedForWindow ? ['its window was closed by another event'] : []),
  ];
  return said.join('; ');
}

function pathTable({ path, totalMs }: BatchTrace): Html | null {
  if (totalMs === null) return null;
  const rows = path.map(
    ({ stage, phase, fromMs, untilMs }) =>
      html`<tr>
        <td>${stage}</td>
        <td>${phase}</td>
        <td class="n">${durationText(fromMs)}</td>
        <td class="n">${durationText(untilMs - fromMs)}</td>
      </tr>`,
  );
  return html`<details>
    <summary>The critical path in ${path.length} steps</summary>
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th scope="col">stage</th>
            <th scope="col">phase</th>
            <th scope="col" class="n">begins at</th>
            <th scope="col" class="n">takes</th>
          </tr>
        </thead>
        <tbody>
          ${rows}
        </tbody>
      </table>
    </div>
  </details>`;
}

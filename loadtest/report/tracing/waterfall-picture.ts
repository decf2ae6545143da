import { linearScale, px, ticks } from '#loadtest/report/axis.ts';
import { html, type Html } from '#loadtest/report/html.ts';
import { durationText } from '#loadtest/report/number-text.ts';
import type { SpanRecord } from '#loadtest/tracing/span-record.ts';
import type { BatchTrace } from '#loadtest/tracing/trace-analysis.ts';
import { waterfallOf, type WaterfallRow } from '#loadtest/tracing/waterfall-rows.ts';
import { phaseClass } from './phase-key.ts';

const WIDTH = 1_000;
const LEFT = 260;
const RIGHT = 70;
const ROW = 20;
const BAR = 12;
const TOP = 22;
/** What is beyond is in spans.ndjson. */
const MAX_ROWS = 60;
/** A bar of a moment would not be seen. */
const LEAST_WIDTH = 0.6;

/** A trace's critical path as one bar, and its spans as a waterfall below, on one time axis. */
export function waterfallPicture(trace: BatchTrace, spans: readonly SpanRecord[]): Html {
  const { rows, lengthMs } = waterfallOf(spans);
  if (rows.length === 0) return html`<p>No span of it is in the files.</p>`;
  const x = linearScale(0, Math.max(lengthMs, 1e-3), LEFT, WIDTH - RIGHT);
  const shown = rows.slice(0, MAX_ROWS);
  const hasPath = trace.path.length > 0;
  const first = hasPath ? TOP + ROW + 6 : TOP;
  const axis = ticks(0, lengthMs, 7).map((tick) => {
    const at = px(x.at(tick));
    return html`<line
        class="grid"
        x1="${at}"
        x2="${at}"
        y1="${TOP - 4}"
        y2="${first + shown.length * ROW}"
      />
      <text class="tick" x="${at}" y="12" text-anchor="middle">${durationText(tick)}</text>`;
  });
  const drawn = shown.map((row, index) => rowOf(row, first + index * ROW, x.at));
  const label = `Waterfall of ${trace.vehicle}, batch ${trace.seq}: ${rows.length} spans, ${durationText(lengthMs)}`;
  const more = rows.length - shown.length;
  return html`<div class="scroll waterfall">
      <svg
        viewBox="0 0 ${WIDTH} ${first + shown.length * ROW + 4}"
        role="img"
        aria-label="${label}"
      >
        ${axis}${hasPath ? pathBar(trace, x.at) : null}${drawn}
      </svg>
    </div>
    ${more > 0 ? html`<p class="soft">and ${more} more spans in <code>spans.ndjson</code></p>` : null}`;
}

function pathBar({ path }: BatchTrace, at: (ms: number) => number): Html {
  const boxes = path.map(
    ({ stage, phase, fromMs, untilMs }) =>
      html`<rect
        class="${phaseClass(phase)}"
        x="${px(at(fromMs))}"
        y="${TOP}"
        width="${px(Math.max(LEAST_WIDTH, at(untilMs) - at(fromMs)))}"
        height="${BAR + 2}"
        ><title>${stage}: ${phase} ${durationText(untilMs - fromMs)}</title></rect
      >`,
  );
  return html`<text class="stage" x="${LEFT - 8}" y="${TOP + BAR / 2}" dy="0.4em" text-anchor="end"
      >critical path</text
    >${boxes}`;
}

function rowOf(row: WaterfallRow, y: number, at: (ms: number) => number): Html {
  const { depth, label, fromMs, untilMs, phases, notes, failed } = row;
  const width = Math.max(LEAST_WIDTH, at(untilMs) - at(fromMs));
  const boxes = phases.map(
    ({ phase, fromMs: beginMs, untilMs: endMs }) =>
      html`<rect
        class="${phaseClass(phase)}"
        x="${px(at(Math.max(0, beginMs)))}"
        y="${y + 2}"
        width="${px(Math.max(LEAST_WIDTH, at(endMs) - at(Math.max(0, beginMs))))}"
        height="${BAR - 4}"
        ><title>${phase} ${durationText(endMs - beginMs)}</title></rect
      >`,
  );
  const outline = failed ? 'span failed' : 'span';
  const said = [durationText(untilMs - fromMs), ...notes].join(', ');
  // To the right of its bar, or to the left where there is no room.
  const end = at(untilMs);
  const place =
    end + 7 * said.length < WIDTH
      ? html`x="${px(end + 5)}" text-anchor="start"`
      : html`x="${px(Math.max(LEFT, at(fromMs)) - 5)}" text-anchor="end"`;
  const indent = Math.min(depth, 9) * 9;
  return html`<text
      class="${failed ? 'failed' : 'tick'}"
      x="${4 + indent}"
      y="${y + BAR / 2}"
      dy="0.35em"
      >${label}</text
    ><rect
      class="${outline}"
      x="${px(at(fromMs))}"
      y="${y}"
      width="${px(width)}"
      height="${BAR}"
    />${boxes}<text class="note" ${place} y="${y + BAR / 2}" dy="0.35em">${said}</text>`;
}

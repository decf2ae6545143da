import { linearScale, px, ticks, type Scale } from '#loadtest/report/axis.ts';
import { html, type Html } from '#loadtest/report/html.ts';
import { significant } from '#loadtest/report/number-text.ts';

/** A quantity over time; each value holds from its moment to the next one. */
export interface StepSeries {
  readonly name: string;
  readonly colour: 1 | 2 | 3 | 4;
  /** Seconds, ascending, and the value from then on; null: not known. */
  readonly points: readonly (readonly [atS: number, value: number | null])[];
  /** Filled down to zero. */
  readonly area?: boolean;
}

export interface Panel {
  readonly title: string;
  readonly unit: string;
  readonly series: readonly StepSeries[];
  /** Spans drawn behind the lines, in seconds: the panic windows. */
  readonly bands?: readonly (readonly [fromS: number, untilS: number])[];
  /** Moments drawn as ticks at the foot, in seconds: cold starts. */
  readonly marks?: readonly number[];
  /** The axis reaches at least so far, so that a quiet stage does not look busy. */
  readonly atLeast: number;
}

export interface Span {
  readonly fromS: number;
  readonly untilS: number;
}

export const PANEL_WIDTH = 1_000;
const LEFT = 52;
const RIGHT = 8;
const TOP = 6;
/** Height of the plot itself. */
const PLOT = 84;
const BOTTOM = 8;
const AXIS = 26;

/** One panel as an SVG; the last one of a stage carries the time axis. */
export function timelinePanel(panel: Panel, span: Span, withAxis: boolean): Html {
  const height = TOP + PLOT + BOTTOM + (withAxis ? AXIS : 0);
  const x = linearScale(span.fromS, span.untilS, LEFT, PANEL_WIDTH - RIGHT);
  const most = mostOf(panel);
  const y = linearScale(0, most, TOP + PLOT, TOP);
  const keys = panel.series.map(
    ({ name, colour }) => html`<span class="key"><i class="c${colour}"></i>${name}</span>`,
  );
  const label = `${panel.title}, 0 to ${significant(most)} ${panel.unit}`;
  return html`<figure class="panel">
    <figcaption>${panel.title}${panel.unit === '' ? '' : ` (${panel.unit})`} ${keys}</figcaption>
    <svg viewBox="0 0 ${PANEL_WIDTH} ${height}" role="img" aria-label="${label}">
      ${bands(panel, x)}${grid(y)}${panel.series.map((series) => line(series, x, y, span))}
      ${marks(panel, x)}${withAxis ? axis(x) : null}
    </svg>
  </figure>`;
}

function mostOf({ series, atLeast }: Panel): number {
  let most = atLeast;
  for (const { points } of series)
    for (const [, value] of points) most = Math.max(most, value ?? 0);
  return most;
}

function bands({ bands: spans = [] }: Panel, x: Scale): readonly Html[] {
  return spans.map(([fromS, untilS]) => {
    const left = x.at(Math.max(fromS, x.min));
    const width = Math.max(1, x.at(Math.min(untilS, x.max)) - left);
    return html`<rect
      class="band"
      x="${px(left)}"
      y="${TOP}"
      width="${px(width)}"
      height="${PLOT}"
    />`;
  });
}

const grid = (y: Scale): readonly Html[] =>
  ticks(0, y.max, 3).map((tick) => {
    const at = px(y.at(tick));
    return html`<line class="grid" x1="${LEFT}" x2="${PANEL_WIDTH - RIGHT}" y1="${at}" y2="${at}" />
      <text class="tick" x="${LEFT - 6}" y="${at}" dy="0.32em" text-anchor="end">${tick}</text>`;
  });

const marks = ({ marks: moments = [] }: Panel, x: Scale): readonly Html[] =>
  moments.map((atS) => {
    const at = px(x.at(atS));
    return html`<line
      class="mark"
      x1="${at}"
      x2="${at}"
      y1="${TOP + PLOT - 10}"
      y2="${TOP + PLOT + 6}"
    />`;
  });

const axis = (x: Scale): readonly Html[] =>
  ticks(x.min, x.max, 10).map(
    (tick) =>
      html`<text
        class="tick"
        x="${px(x.at(tick))}"
        y="${TOP + PLOT + BOTTOM + 18}"
        text-anchor="middle"
        >${tick} s</text
      >`,
  );

/** Right, then up: a value holds until the next one is known. Where nothing is known the line breaks. */
function line({ points, colour, area }: StepSeries, x: Scale, y: Scale, span: Span): Html {
  let path = '';
  let filled = '';
  let open = false;
  const foot = px(y.at(0));
  for (const [index, [atS, value]] of points.entries()) {
    if (atS > span.untilS) break;
    const from = px(x.at(Math.max(atS, span.fromS)));
    const until = px(x.at(Math.min(points[index + 1]?.[0] ?? atS, span.untilS)));
    if (value === null) {
      open = false;
      continue;
    }
    const level = px(y.at(value));
    path += `${open ? 'L' : 'M'}${from} ${level}H${until}`;
    if (area === true) filled += `M${from} ${foot}V${level}H${until}V${foot}Z`;
    open = true;
  }
  const below = filled === '' ? null : html`<path class="area f${colour}" d="${filled}" />`;
  return html`${below}<path class="line c${colour}" d="${path}" />`;
}

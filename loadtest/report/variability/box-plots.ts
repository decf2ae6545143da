import { boxPlot, type BoxPlot } from '#loadtest/statistics/box-plot.ts';
import { relativeError, type StudyCell } from '#loadtest/variability/study-cells.ts';
import type { Study } from '#loadtest/variability/study.ts';
import { linearScale, px, ticks, type Scale } from '../axis.ts';
import { html, type Html } from '../html.ts';
import { demandText, figure } from './figure-text.ts';

const WIDTH = 520;
const HEIGHT = 300;
const LEFT = 52;
const RIGHT = 8;
const TOP = 20;
const BOTTOM = 46;
/** Of the room a node has, what one box takes. */
const BOX_SHARE = 0.3;
const MAX_BOX_PX = 30;
/** Outliers drawn one by one; the outermost first. */
const MAX_DOTS = 100;
/** Longer names would run into each other. */
const NAME_PX = 7.5;

interface PlacedBox {
  readonly node: string;
  readonly qos: string;
  readonly colour: number;
  readonly centre: number;
  readonly box: BoxPlot;
}

/** One panel a demand: relative error of each node's bursts, the classes side by side. */
export function boxPlots(study: Study, cells: readonly StudyCell[]): Html {
  const panels = study.demands.map(({ ms }) =>
    panel(
      study,
      cells.filter(({ demandMs }) => demandMs === ms),
      ms,
    ),
  );
  return html`<div class="charts">${panels}</div>`;
}

function panel(study: Study, cells: readonly StudyCell[], demandMs: number): Html | null {
  const room = (WIDTH - LEFT - RIGHT) / study.nodes.length;
  const width = Math.min(MAX_BOX_PX, room * BOX_SHARE);
  const boxes = study.nodes.flatMap(({ name: node }, index) =>
    study.qos.flatMap((qos, side): PlacedBox[] => {
      const rows = cells.find((cell) => cell.qos === qos)?.rows.filter((row) => row.node === node);
      if (rows === undefined || rows.length === 0) return [];
      const shift = (side - (study.qos.length - 1) / 2) * (width + 4);
      const centre = LEFT + (index + 0.5) * room + shift;
      const box = boxPlot(rows.map((row) => 100 * relativeError(row)));
      return [{ node, qos, colour: side + 1, centre, box }];
    }),
  );
  if (boxes.length === 0) return null;
  const values = boxes.flatMap(({ box }) => [
    box.low,
    box.high,
    box.mean,
    box.p95,
    ...box.outliers,
  ]);
  const y = linearScale(Math.min(0, ...values), Math.max(0, ...values), HEIGHT - BOTTOM, TOP);
  const keys = study.qos.map(
    (qos, side) => html`<span class="key"><i class="c${side + 1}"></i>${qos}</span>`,
  );
  return html`<figure>
    <figcaption>${demandText(demandMs)}: error of the wall time (%) ${keys}</figcaption>
    <svg
      viewBox="0 0 ${WIDTH} ${HEIGHT}"
      role="img"
      aria-label="Box plots of the error of ${demandText(demandMs)} by node and class"
    >
      ${gridOf(y)}${boxes.map((placed) => boxOf(placed, y, width))}${namesOf(study, room)}
    </svg>
  </figure>`;
}

function gridOf(y: Scale): readonly Html[] {
  return ticks(y.min, y.max, 6).map((tick) => {
    const at = px(y.at(tick));
    return html`<line
        class="${tick === 0 ? 'grid zero' : 'grid'}"
        x1="${LEFT}"
        x2="${WIDTH - RIGHT}"
        y1="${at}"
        y2="${at}"
      />
      <text class="tick" x="${LEFT - 6}" y="${at}" dy="0.32em" text-anchor="end">${tick}</text>`;
  });
}

function boxOf({ node, qos, colour, centre, box }: PlacedBox, y: Scale, width: number): Html {
  const [left, right, at] = [centre - width / 2, centre + width / 2, px(centre)];
  const line = (value: number, kind: string, share = 1): Html =>
    html`<line
      class="${kind}"
      x1="${px(centre - (width * share) / 2)}"
      x2="${px(centre + (width * share) / 2)}"
      y1="${px(y.at(value))}"
      y2="${px(y.at(value))}"
    />`;
  const stem = (from: number, to: number): Html =>
    html`<line class="stem" x1="${at}" x2="${at}" y1="${px(y.at(from))}" y2="${px(y.at(to))}" />`;
  const dots = [...box.outliers]
    .sort((a, b) => Math.abs(b - box.median) - Math.abs(a - box.median))
    .slice(0, MAX_DOTS)
    .map((value) => html`<circle class="dot" cx="${at}" cy="${px(y.at(value))}" r="2" />`);
  const height = Math.max(1, y.at(box.q1) - y.at(box.q3));
  const mean = px(y.at(box.mean));
  return html`<g class="spread c${colour}">
    <title>
      ${node}, ${qos}: median ${figure(box.median)} %, quartiles ${figure(box.q1)} and
      ${figure(box.q3)} %, mean ${figure(box.mean)} %, p95 ${figure(box.p95)} %, n ${box.n}
    </title>
    ${stem(box.low, box.q1)}${stem(box.q3, box.high)}${line(box.low, 'cap', 0.5)}
    ${line(box.high, 'cap', 0.5)}
    <rect
      x="${px(left)}"
      y="${px(y.at(box.q3))}"
      width="${px(right - left)}"
      height="${px(height)}"
    />
    ${line(box.median, 'median')}${line(box.p95, 'p95', 1.3)}${dots}
    <path class="mean" d="M${at} ${mean}m0 -4l4 4l-4 4l-4 -4z" />
    <text class="tick" x="${at}" y="${HEIGHT - BOTTOM + 14}" text-anchor="middle">${box.n}</text>
  </g>`;
}

function namesOf(study: Study, room: number): readonly Html[] {
  const most = Math.max(3, Math.floor(room / NAME_PX));
  return study.nodes.map(({ name }, index) => {
    const short = name.length <= most ? name : `${name.slice(0, most - 1)}…`;
    const at = px(LEFT + (index + 0.5) * room);
    return html`<text x="${at}" y="${HEIGHT - BOTTOM + 34}" text-anchor="middle"
      >${short}<title>${name}</title></text
    >`;
  });
}

/** What the report's style sheet lacks for boxes. */
export const BOX_STYLE = `
svg .zero { stroke: var(--soft); stroke-dasharray: 4 3; }
svg .spread rect { fill: var(--panel); stroke-width: 1.5; }
svg .spread line { stroke-width: 1.5; }
svg .spread .median { stroke-width: 3; }
svg .spread .p95 { stroke-dasharray: 3 2; }
svg .spread .dot { fill: none; stroke-width: 1; opacity: .7; }
svg .spread .mean { fill: var(--bg); stroke-width: 1.5; }
svg .spread text { stroke: none; }
`;

import { linearScale, px, ticks } from './axis.ts';
import { downsample } from './downsample.ts';
import { html } from './html.ts';
import { significant } from './number-text.ts';
import type { Html } from './html.ts';
import type { Scale } from './axis.ts';

export interface Series {
  readonly name: string;
  /** Seconds, ascending. */
  readonly times: ArrayLike<number>;
  /** NaN = absent. */
  readonly values: ArrayLike<number>;
}

export interface LinePlot {
  readonly title: string;
  readonly unit: string;
  readonly series: readonly Series[];
}

const WIDTH = 520;
const HEIGHT = 190;
const LEFT = 46;
const RIGHT = 8;
const TOP = 8;
const BOTTOM = 30;
/** A line is broken where nothing came for so many seconds. */
const BREAK_S = 2;

/** Signals over time as one SVG; every series has its colour and its name above the plot. */
export function linePlot(plot: LinePlot): Html {
  const { from, until, low, high } = extent(plot.series);
  const x = linearScale(from, until, LEFT, WIDTH - RIGHT);
  const y = linearScale(low, high, HEIGHT - BOTTOM, TOP);
  const lines = plot.series.map(
    (series, index) =>
      html`<path class="line c${index + 1}" d="${pathOf(series, x, y, { from, until })}" />`,
  );
  const keys = plot.series.map(
    ({ name }, index) => html`<span class="key"><i class="c${index + 1}"></i>${name}</span>`,
  );
  const label = `${plot.title}, ${significant(low)} to ${significant(high)} ${plot.unit}`;
  return html`<figure>
    <figcaption>${plot.title}${plot.unit === '' ? '' : ` (${plot.unit})`} ${keys}</figcaption>
    <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${label}">
      ${gridOf(x, y)}${lines}
    </svg>
  </figure>`;
}

function extent(series: readonly Series[]): {
  readonly from: number;
  readonly until: number;
  readonly low: number;
  readonly high: number;
} {
  let [from, until, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const { times, values } of series) {
    for (let row = 0; row < times.length; row++) {
      const value = values[row] ?? Number.NaN;
      if (Number.isNaN(value)) continue;
      from = Math.min(from, times[row] ?? 0);
      until = Math.max(until, times[row] ?? 0);
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  return from <= until ? { from, until, low, high } : { from: 0, until: 1, low: 0, high: 1 };
}

function gridOf(x: Scale, y: Scale): readonly Html[] {
  const rows = ticks(y.min, y.max, 4).map((tick) => {
    const at = px(y.at(tick));
    return html`<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${at}" y2="${at}" />
      <text class="tick" x="${LEFT - 6}" y="${at}" dy="0.32em" text-anchor="end">${tick}</text>`;
  });
  const columns = ticks(x.min, x.max, 6).map(
    (tick) =>
      html`<text class="tick" x="${px(x.at(tick))}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle"
        >${tick} s</text
      >`,
  );
  return [...rows, ...columns];
}

function pathOf(
  { times, values }: Series,
  x: Scale,
  y: Scale,
  span: { readonly from: number; readonly until: number },
): string {
  let path = '';
  let last = Number.NEGATIVE_INFINITY;
  for (const { time, value } of downsample(times, values, span, WIDTH - LEFT - RIGHT)) {
    path += `${time - last > BREAK_S ? 'M' : 'L'}${px(x.at(time))} ${px(y.at(value))}`;
    last = time;
  }
  return path;
}

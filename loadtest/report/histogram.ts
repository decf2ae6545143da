import { linearScale, niceStep, px, ticks } from './axis.ts';
import { html } from './html.ts';
import { durationText } from './number-text.ts';
import type { Html } from './html.ts';
import type { Scale } from './axis.ts';

const WIDTH = 520;
const HEIGHT = 270;
const LEFT = 46;
/** Room for the text of the rightmost mark. */
const RIGHT = 92;
const TOP = 78;
const BOTTOM = 40;
const BINS = 24;
const MARK_TOP = 14;
const MARK_HEIGHT = 16;
export interface Bin {
  readonly from: number;
  readonly until: number;
  readonly count: number;
}

/** Bins of a round width from 0 on; a value on an edge belongs to the bin that starts there. */
export function binsOf(values: readonly number[], bins = BINS): readonly Bin[] {
  const max = Math.max(0, ...values);
  const width = niceStep(max, bins);
  const counts = Array.from({ length: Math.floor(max / width) + 1 }, () => 0);
  for (const value of values) {
    const at = Math.max(0, Math.floor(value / width));
    counts[at] = (counts[at] ?? 0) + 1;
  }
  return counts.map((count, index) => ({
    from: index * width,
    until: (index + 1) * width,
    count,
  }));
}

export interface Mark {
  readonly name: string;
  readonly value: number | null;
}

/** How many batches took how long (ms), with marks such as the quantiles. */
export function histogram(values: readonly number[], marks: readonly Mark[]): Html {
  if (values.length === 0) return html`<p>No batch came out, so there is no latency.</p>`;
  const bins = binsOf(values);
  const x = linearScale(0, bins.at(-1)?.until ?? 1, LEFT, WIDTH - RIGHT);
  const y = linearScale(0, Math.max(...bins.map(({ count }) => count)), HEIGHT - BOTTOM, TOP);
  const bars = bins.map(({ from, until, count }) => {
    const [left, right, top] = [x.at(from), x.at(until), y.at(count)];
    const width = Math.max(0.5, right - left - 1);
    return html`<rect
      class="bar"
      x="${px(left)}"
      y="${px(top)}"
      width="${px(width)}"
      height="${px(HEIGHT - BOTTOM - top)}"
      ><title>${count} batches of ${durationText(from)} to ${durationText(until)}</title></rect
    >`;
  });
  return html`<figure>
    <svg
      viewBox="0 0 ${WIDTH} ${HEIGHT}"
      role="img"
      aria-label="Histogram of the latency of ${values.length} batches"
    >
      ${axesOf(x, y)}${bars}${marksOf(x, marks)}
      <text class="axis" x="${WIDTH - RIGHT}" y="${HEIGHT - 4}" text-anchor="end">
        latency from the intended time (ms)
      </text>
      <text class="axis" x="4" y="12">batches</text>
    </svg>
  </figure>`;
}

function axesOf(x: Scale, y: Scale): readonly Html[] {
  const rows = ticks(0, y.max, 4)
    .filter((tick) => Number.isInteger(tick))
    .map((tick) => {
      const at = px(y.at(tick));
      return html`<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${at}" y2="${at}" />
        <text class="tick" x="${LEFT - 6}" y="${at}" dy="0.32em" text-anchor="end">${tick}</text>`;
    });
  const columns = ticks(0, x.max, 5).map(
    (tick) =>
      html`<text class="tick" x="${px(x.at(tick))}" y="${HEIGHT - BOTTOM + 16}" text-anchor="middle"
        >${tick}</text
      >`,
  );
  return [...rows, ...columns];
}

/**
 * Each mark has a row of its own for its text, to the right of its line. Larger marks have lower rows,
 * so that no line crosses a text.
 */
function marksOf(x: Scale, marks: readonly Mark[]): readonly Html[] {
  return marks.flatMap(({ name, value }, index) => {
    if (value === null) return [];
    const at = px(x.at(value));
    const top = MARK_TOP + index * MARK_HEIGHT;
    return [
      html`<line class="mark" x1="${at}" x2="${at}" y1="${top - 10}" y2="${HEIGHT - BOTTOM}" />
        <text class="mark" x="${px(x.at(value) + 5)}" y="${top + 2}">
          ${name} ${durationText(value)}
        </text>`,
    ];
  });
}

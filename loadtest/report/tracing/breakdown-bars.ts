import { PHASES, type Phase } from '#kernel/core/phases.ts';
import { linearScale, px, ticks } from '#loadtest/report/axis.ts';
import { html, type Html } from '#loadtest/report/html.ts';
import { durationText } from '#loadtest/report/number-text.ts';
import type { Breakdown, StageBreakdown } from '#loadtest/tracing/stage-breakdown.ts';
import { phaseClass, phaseKey } from './phase-key.ts';

const WIDTH = 1_000;
const LEFT = 232;
const RIGHT = 84;
const ROW = 24;
const BAR = 16;
const GAP = 10;
const AXIS = 26;

/** Stacked bars: where the time goes, of the whole way by stage and of each stage by phase. */
export function breakdownBars(breakdowns: readonly StageBreakdown[]): Html {
  const [whole, ...stages] = breakdowns;
  if (whole === undefined) return html`<p>No trace is complete.</p>`;
  const names = whole.bars[0]?.parts.map(({ name }) => name) ?? [];
  const ofStage = (name: string): string =>
    name === 'residual' ? 'f7' : `f${(names.indexOf(name) % 6) + 1}`;
  const used = new Set<Phase>();
  for (const { bars } of stages) {
    for (const { parts } of bars) for (const { name } of parts) if (isPhase(name)) used.add(name);
  }
  return html`<h3>The whole way, by stage</h3>
    <p class="keys">
      ${names.map((name) => html`<span class="key"><i class="${ofStage(name)}"></i>${name}</span>`)}
    </p>
    ${stackedBars([whole], ofStage)}
    <h3>Each stage, by phase</h3>
    ${phaseKey(used)} ${stackedBars(stages, (name) => (isPhase(name) ? phaseClass(name) : 'f7'))}
    ${numbers(breakdowns)}`;
}

const isPhase = (name: string): name is Phase => PHASES.some((phase) => phase === name);

function stackedBars(groups: readonly StageBreakdown[], classOf: (name: string) => string): Html {
  const most = Math.max(1e-3, ...groups.flatMap(({ bars }) => bars.map(({ totalMs }) => totalMs)));
  const x = linearScale(0, most, LEFT, WIDTH - RIGHT);
  const drawn: Html[] = [];
  let y = 4;
  for (const { stage, bars } of groups) {
    for (const [index, bar] of bars.entries()) {
      drawn.push(barOf(bar, index === 0 ? stage : '', y, x.at, classOf));
      y += ROW;
    }
    y += GAP;
  }
  const axis = ticks(0, most, 8).map(
    (tick) =>
      html`<text class="tick" x="${px(x.at(tick))}" y="${y + 12}" text-anchor="middle"
        >${durationText(tick)}</text
      >`,
  );
  const label = `Stacked bars of ${groups.map(({ stage }) => stage).join(', ')}, up to ${durationText(most)}`;
  return html`<div class="scroll waterfall">
    <svg viewBox="0 0 ${WIDTH} ${y + AXIS - 8}" role="img" aria-label="${label}">
      ${drawn}${axis}
    </svg>
  </div>`;
}

function barOf(
  { quantile, totalMs, parts }: Breakdown,
  stage: string,
  y: number,
  at: (ms: number) => number,
  classOf: (name: string) => string,
): Html {
  let fromMs = 0;
  const boxes = parts.map(({ name, ms }) => {
    const left = at(fromMs);
    fromMs += ms;
    return html`<rect
      class="${classOf(name)}"
      x="${px(left)}"
      y="${y}"
      width="${px(at(fromMs) - left)}"
      height="${BAR}"
      ><title>${name} ${durationText(ms)}</title></rect
    >`;
  });
  const middle = y + BAR / 2;
  return html`<text class="stage" x="${LEFT - 44}" y="${middle}" dy="0.35em" text-anchor="end"
      >${stage}</text
    ><text class="tick" x="${LEFT - 8}" y="${middle}" dy="0.35em" text-anchor="end"
      >${quantile}</text
    >${boxes}<text class="tick" x="${px(at(totalMs) + 6)}" y="${middle}" dy="0.35em"
      >${durationText(totalMs)}</text
    >`;
}

/** The same as numbers, for those who do not see colours and for those who want to copy them. */
function numbers(breakdowns: readonly StageBreakdown[]): Html {
  const rows = breakdowns.flatMap(({ stage, bars }) =>
    bars.map(({ quantile, totalMs, parts }) => {
      const text = parts
        .filter(({ ms }) => ms > 0)
        .map(({ name, ms }) => `${name} ${durationText(ms)}`)
        .join(', ');
      return html`<tr>
        <th scope="row">${stage}</th>
        <td>${quantile}</td>
        <td class="n">${durationText(totalMs)}</td>
        <td class="soft">${text}</td>
      </tr>`;
    }),
  );
  return html`<details>
    <summary>As numbers</summary>
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th scope="col">stage</th>
            <th scope="col">quantile</th>
            <th scope="col" class="n">time</th>
            <th scope="col">divides into</th>
          </tr>
        </thead>
        <tbody>
          ${rows}
        </tbody>
      </table>
    </div>
  </details>`;
}

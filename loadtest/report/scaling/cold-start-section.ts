import type { ColdStartRow } from '#infra/local/cluster-records.ts';
import { linearScale, px, ticks } from '#loadtest/report/axis.ts';
import { html, type Html } from '#loadtest/report/html.ts';
import { durationText } from '#loadtest/report/number-text.ts';
import { quantilesOf } from '#loadtest/results/quantiles.ts';

/** The parts of a cold start in their order; each is the time between two recorded moments. */
export const COLD_START_PHASES = [
  ['decision', 'from the first request to the decision'],
  ['slot', 'waiting for a start slot (at most as many starts at once as cores)'],
  ['delay', 'artificial start delay of a container'],
  ['boot', 'from spawn to the runtime being up'],
  ['load', 'loading the modules'],
  ['listen', 'until it listens and has said so'],
  ['first response', 'until its first response'],
] as const;

export type ColdStartPhase = (typeof COLD_START_PHASES)[number][0];

/** Durations in ms; null where a moment is not known. */
export function phasesOf(row: ColdStartRow): Readonly<Record<ColdStartPhase, number | null>> {
  const between = (from: number | null, until: number | null): number | null =>
    from === null || until === null ? null : Math.max(0, until - from);
  return {
    decision: between(row.requestedMs, row.decidedMs),
    slot: between(row.decidedMs, row.slotMs),
    delay: between(row.slotMs, row.spawnedMs),
    boot: between(row.spawnedMs, row.bootedMs),
    load: between(row.bootedMs, row.loadedMs),
    listen: between(row.loadedMs ?? row.spawnedMs, row.listeningMs),
    'first response': between(row.listeningMs, row.firstResponseMs),
  };
}

const WIDTH = 1_000;
const LEFT = 190;
const ROW = 30;
const BAR = 18;
const AXIS = 26;

/** Where the time of cold starts goes: the median of each phase as one bar a stage, and a table. */
export function coldStartSection(rows: readonly ColdStartRow[]): Html {
  if (rows.length === 0) {
    return html`<h2>Cold starts</h2>
      <p>No replica became ready in the measured time.</p>`;
  }
  const stages = [...Map.groupBy(rows, ({ service }) => service)].sort(([a], [b]) =>
    a < b ? -1 : 1,
  );
  return html`<h2>Cold starts</h2>
    <p class="soft">
      The median of each phase. Each is the time between two recorded moments; none is what is left
      over.
    </p>
    ${keys()} ${bars(stages)} ${table(stages)}`;
}

type Stages = readonly (readonly [stage: string, rows: readonly ColdStartRow[]])[];

const keys = (): Html =>
  html`<p>
    ${COLD_START_PHASES.map(
      ([phase, about], index) =>
        html`<span class="key" title="${about}"><i class="f${index + 1}"></i>${phase}</span>`,
    )}
  </p>`;

const medianOf = (rows: readonly ColdStartRow[], phase: ColdStartPhase): number =>
  quantilesOf(rows.flatMap((row) => phasesOf(row)[phase] ?? [])).p50 ?? 0;

function bars(stages: Stages): Html {
  const medians = stages.map(([stage, rows]) => ({
    stage,
    parts: COLD_START_PHASES.map(([phase]) => medianOf(rows, phase)),
  }));
  const most = Math.max(
    1,
    ...medians.map(({ parts }) => parts.reduce((sum, part) => sum + part, 0)),
  );
  const x = linearScale(0, most, LEFT, WIDTH - 8);
  const drawn = medians.map(({ stage, parts }, row) => {
    let at = 0;
    const boxes = parts.map((part, index) => {
      const left = x.at(at);
      at += part;
      return html`<rect
        class="f${index + 1}"
        x="${px(left)}"
        y="${row * ROW + 6}"
        width="${px(x.at(at) - left)}"
        height="${BAR}"
      />`;
    });
    const middle = row * ROW + 6 + BAR / 2;
    return html`<text x="${LEFT - 8}" y="${middle}" dy="0.35em" text-anchor="end">${stage}</text
      >${boxes}`;
  });
  const foot = stages.length * ROW;
  const axis = ticks(0, most, 8).map(
    (tick) =>
      html`<text class="tick" x="${px(x.at(tick))}" y="${foot + 18}" text-anchor="middle"
        >${durationText(tick)}</text
      >`,
  );
  const label = `Median phases of cold starts, up to ${durationText(most)}`;
  return html`<svg viewBox="0 0 ${WIDTH} ${foot + AXIS}" role="img" aria-label="${label}">
    ${drawn}${axis}
  </svg>`;
}

function table(stages: Stages): Html {
  const rows = stages.map(([stage, own]) => {
    const total = quantilesOf(own.map((row) => row.listeningMs - row.decidedMs));
    const response = quantilesOf(
      own.flatMap(({ firstResponseMs, spawnedMs }) =>
        firstResponseMs === null ? [] : [firstResponseMs - spawnedMs],
      ),
    );
    const cells = [
      ...COLD_START_PHASES.map(([phase]) => durationText(medianOf(own, phase))),
      durationText(total.p50),
      durationText(total.max),
      durationText(response.p50),
    ];
    return html`<tr>
      <th scope="row">${stage}</th>
      <td class="n">${own.length}</td>
      <td class="n">${own.filter(({ fromZero }) => fromZero).length}</td>
      ${cells.map((cell) => html`<td class="n">${cell}</td>`)}
    </tr>`;
  });
  const heads = [
    'starts',
    'from zero',
    ...COLD_START_PHASES.map(([phase]) => phase),
    'decision to ready p50',
    'max',
    'spawn to response p50',
  ];
  return html`<div class="scroll">
    <table>
      <thead>
        <tr>
          <th scope="col">stage</th>
          ${heads.map((head) => html`<th scope="col" class="n">${head}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
}

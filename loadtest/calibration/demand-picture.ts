import {
  CONDITIONS,
  type CpuCondition,
  type Meaning,
  MEANINGS,
  type Outcome,
  simulateDemand,
} from './simulate-demand.ts';

const AMOUNT_MS = 50;
const LABEL_WIDTH = 176;
const CELL_WIDTH = 216;
const HEAD_HEIGHT = 78;
const ROW_HEIGHT = 74;
const FOOT_HEIGHT = 16;
const BAR_HEIGHT = 22;
/** 125 ms, the longest of all, fill a cell but for its margin. */
const PX_PER_MS = 1.5;
const WIDTH = LABEL_WIDTH + CONDITIONS.length * CELL_WIDTH;
const HEIGHT = HEAD_HEIGHT + MEANINGS.length * ROW_HEIGHT + FOOT_HEIGHT;

const EXPLAINED: Readonly<Record<Meaning, string>> = {
  work: 'fixed work',
  'work;rate=local': 'fixed work of this CPU',
  cpuTime: 'fixed CPU time',
  delay: 'fixed waiting',
  'wall clock loop': 'not offered',
};

/** Follows the reader's system, as the report does; an image in a page does so by itself. */
const STYLE = `
  svg { --bg: #fff; --ink: #1b1f24; --soft: #57606a; --line: #d0d7de; --run: #0550ae; --slow: #b5480f; }
  @media (prefers-color-scheme: dark) {
    svg { --bg: #0d1117; --ink: #e6edf3; --soft: #9da7b1; --line: #30363d; --run: #79c0ff; --slow: #ffa657; }
  }
  text { font: 14px system-ui, -apple-system, "Segoe UI", sans-serif; fill: var(--ink); }
  .soft { font-size: 12px; fill: var(--soft); }
  .name { font-weight: 600; }
  .ground { fill: var(--bg); }
  .rule { stroke: var(--line); }
  .runs { fill: var(--run); }
  .runs.slow { fill: var(--slow); }
  .waits { fill: none; stroke: var(--soft); stroke-dasharray: 2 3; }
  .sleeps { fill: var(--line); }
  .asked { stroke: var(--ink); stroke-dasharray: 4 3; }`;

/** `docs/images/demand-meanings.svg`: what each meaning of 50 ms becomes on four CPUs. */
export const demandPicture = (): string =>
  [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img">`,
    `<title>What 50 ms become: five meanings, on four CPUs</title>`,
    `<style>${STYLE}\n</style>`,
    `<rect class="ground" width="${WIDTH}" height="${HEIGHT}"/>`,
    legend(),
    ...CONDITIONS.map(columnHead),
    ...MEANINGS.flatMap(row),
    '</svg>',
    '',
  ].join('\n');

function legend(): string {
  const entries = [
    ['runs', 'on the CPU'],
    ['runs slow', 'on the CPU, at half the speed'],
    ['waits', 'could run, waits for the CPU'],
    ['sleeps', 'asleep'],
  ] as const;
  let x = LABEL_WIDTH;
  return entries
    .map(([phase, words]) => {
      const entry = `<rect class="${phase}" x="${x}" y="12" width="22" height="12"/>${text(x + 28, 23, words, 'soft')}`;
      x += 60 + words.length * 6.5;
      return entry;
    })
    .join('\n');
}

const columnHead = ({ name }: CpuCondition, column: number): string =>
  text(cellLeft(column), HEAD_HEIGHT - 18, name, 'name');

const cellLeft = (column: number): number => LABEL_WIDTH + column * CELL_WIDTH;

function row(meaning: Meaning, index: number): readonly string[] {
  const top = HEAD_HEIGHT + index * ROW_HEIGHT;
  return [
    `<line class="rule" x1="8" x2="${WIDTH - 8}" y1="${top}" y2="${top}"/>`,
    text(8, top + 28, meaning, 'name'),
    text(8, top + 46, EXPLAINED[meaning], 'soft'),
    ...CONDITIONS.map((condition, column) =>
      cell(simulateDemand(meaning, condition, AMOUNT_MS), condition, cellLeft(column), top + 12),
    ),
  ];
}

/** A bar of time, a mark at the 50 ms that were asked for, and the three amounts under it. */
function cell(
  { stretches, wallMs, cpuMs, work }: Outcome,
  cpu: CpuCondition,
  x: number,
  y: number,
) {
  const bars = stretches.map(({ phase, fromMs, untilMs }) => {
    const slow = phase === 'runs' && cpu.speed < 1 ? ' slow' : '';
    const [left, width] = [x + fromMs * PX_PER_MS, (untilMs - fromMs) * PX_PER_MS];
    const place = `x="${left}" y="${y}" width="${width}" height="${BAR_HEIGHT}"`;
    return `<rect class="${phase}${slow}" ${place}/>`;
  });
  const markX = x + AMOUNT_MS * PX_PER_MS;
  const mark = `<line class="asked" x1="${markX}" x2="${markX}" y1="${y - 4}" y2="${y + BAR_HEIGHT + 4}"/>`;
  const words = `${wallMs} ms · CPU ${cpuMs} · work ${work}`;
  return [...bars, mark, text(x, y + BAR_HEIGHT + 20, words, 'soft')].join('\n');
}

const text = (x: number, y: number, words: string, style: string): string =>
  `<text class="${style}" x="${x}" y="${y}">${words}</text>`;

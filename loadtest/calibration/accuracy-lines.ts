import { type AccuracyRow, type AccuracyTable, maxErrorPct } from './accuracy-row.ts';
import type { Loop } from './burn-stand.ts';

const LOOP_TEXTS: Readonly<Record<Loop, string>> = {
  hybrid: 'tachograph',
  open: 'open loop',
  wall: 'wall clock',
  naive: 'naive CPU clock',
};

const HEAD = [
  'demand',
  'beside',
  'loop',
  'n',
  'CPU bias',
  'from outside',
  'CV',
  'wall mean',
  'waiting',
  '',
];
/** Columns of words; all others are right-aligned numbers. */
const LEFT = new Set([1, 2, 9]);

/** The table for people: one line a row, bursts of one size together. */
export function tableLines({ rows }: AccuracyTable): readonly string[] {
  const cells = [HEAD, ...rows.map(cellsOf)];
  const widths = HEAD.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells.map((row) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return LEFT.has(column) ? cell.padEnd(width) : cell.padStart(width);
      })
      .join('  ')
      .trimEnd(),
  );
}

function cellsOf(row: AccuracyRow): readonly string[] {
  const { condition, nominalMs, loop, n, biasPct, cvPct, outsideBiasPct, met } = row;
  const bound = `<= ${maxErrorPct(nominalMs)} %: ${met === true ? 'met' : 'NOT MET'}`;
  return [
    `${nominalMs} ms`,
    condition === 'quiet' ? 'nothing' : '2 busy loops',
    LOOP_TEXTS[loop],
    String(n),
    signedPercent(biasPct),
    outsideBiasPct === null ? 'unknown' : signedPercent(outsideBiasPct),
    `${digits(cvPct)} %`,
    `${row.wallMeanMs.toFixed(2)} ms`,
    row.readyShare === null ? 'unknown' : `${(row.readyShare * 100).toFixed(1)} %`,
    met === undefined ? '' : bound,
  ];
}

const signedPercent = (value: number): string =>
  `${value < 0 ? '−' : '+'}${digits(Math.abs(value))} %`;

/** Thousandths below 1, tenths from 10 on. */
const digits = (value: number): string => value.toFixed(value < 1 ? 3 : value < 10 ? 2 : 1);

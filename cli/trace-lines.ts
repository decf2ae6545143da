import type { Phase } from '#kernel/core/phases.ts';
import { durationText } from '#loadtest/report/number-text.ts';
import type { SpanRecord } from '#loadtest/tracing/span-record.ts';
import type { BatchTrace } from '#loadtest/tracing/trace-analysis.ts';
import { waterfallOf, type WaterfallRow } from '#loadtest/tracing/waterfall-rows.ts';
import type { Terminal } from './terminal.ts';

/** One letter each, which a terminal without colours shows too. */
export const PHASE_LETTERS: Readonly<Record<Phase, string>> = {
  upload: 'u',
  activator: 'a',
  coldStart: 'C',
  queue: 'q',
  decode: 'd',
  burnCpu: 'B',
  burnReady: 'b',
  burnRest: 'r',
  store: 's',
  compute: 'c',
  emit: 'e',
  publish: 'p',
  stream: '~',
  windowWait: 'w',
};

export interface LineOptions {
  /** Columns of the terminal. */
  readonly width: number;
  readonly colour: Terminal['colour'];
}

/** Below it a bar says nothing. */
export const MIN_WIDTH = 70;
const LABEL_WIDTH = 40;
/** Of ` 1.23 s`. */
const TIME_WIDTH = 10;
/** A session that closes hundreds of windows at once has more. */
const MAX_ROWS = 200;

/** A batch's trace for a terminal: what became of it, its way, its spans as bars. */
export function traceLines(
  trace: BatchTrace,
  spans: readonly SpanRecord[],
  options: LineOptions,
): readonly string[] {
  return [...headLines(trace, options), '', ...barLines(spans, options), '', keyLine()];
}

function headLines(trace: BatchTrace, { colour }: LineOptions): readonly string[] {
  const { vehicle, session, seq, traceId, state, reason, totalMs, residualMs } = trace;
  const name = colour('bold', `${vehicle}/${session}/${seq}`);
  const lines = [`batch     ${name}`, `trace     ${traceId}`];
  if (totalMs === null) return [...lines, colour('red', `${state}    ${reason}`)];
  const marks = [
    ...(trace.cold ? ['a start was waited for'] : []),
    ...(trace.failed ? ['with a failure or a repeated attempt'] : []),
    ...(trace.waitedForWindow ? ['its window was closed by another event'] : []),
  ];
  lines.push(`state     ${[state, ...marks].join(', ')}`);
  const share = totalMs === 0 ? 0 : (100 * residualMs) / totalMs;
  lines.push(
    `total     ${durationText(totalMs)}, of which nothing covers ${durationText(residualMs)} ` +
      `(${share.toPrecision(2)} %)`,
  );
  for (const fault of trace.clockFaults) lines.push(colour('yellow', `clock     ${fault}`));
  return [...lines, ...wayLines(trace)];
}

/** The way in one line a stage: the phases that took the most. */
function wayLines({ path, totalMs }: BatchTrace): readonly string[] {
  const stages = Map.groupBy(path, ({ stage }) => stage);
  const lengthOf = (steps: BatchTrace['path']): number =>
    steps.reduce((ms, { fromMs, untilMs }) => ms + untilMs - fromMs, 0);
  return [...stages].map(([stage, steps], at) => {
    const ms = lengthOf(steps);
    const phases = [...Map.groupBy(steps, ({ phase }) => phase)]
      .map(([phase, own]) => ({ phase, ms: lengthOf(own) }))
      .filter((one) => one.ms >= (totalMs ?? 0) / 1_000)
      .sort((a, b) => b.ms - a.ms)
      .map((one) => `${one.phase} ${durationText(one.ms)}`);
    const head = at === 0 ? 'way       ' : '          ';
    return `${head}${stage.padEnd(21)}${durationText(ms).padStart(8)}   ${phases.join(', ')}`;
  });
}

function barLines(spans: readonly SpanRecord[], options: LineOptions): readonly string[] {
  const { rows, lengthMs } = waterfallOf(spans);
  const columns = Math.max(10, options.width - LABEL_WIDTH - TIME_WIDTH - 2);
  const shown = rows.slice(0, MAX_ROWS).map((row) => barLine(row, lengthMs, columns, options));
  const more = rows.length - shown.length;
  return more > 0 ? [...shown, `and ${more} more spans`] : shown;
}

function barLine(
  row: WaterfallRow,
  lengthMs: number,
  columns: number,
  { colour }: LineOptions,
): string {
  const label = `${'  '.repeat(Math.min(row.depth, 8))}${row.label}`;
  const fitted = label.length > LABEL_WIDTH ? `${label.slice(0, LABEL_WIDTH - 1)}…` : label;
  const cells = Array.from({ length: columns }, () => ' ');
  const at = (ms: number): number =>
    Math.min(columns - 1, Math.max(0, Math.floor((ms / Math.max(lengthMs, 1e-9)) * columns)));
  const fill = (fromMs: number, untilMs: number, letter: string): void => {
    // What ends on the edge of a cell is not in it; each has one at least.
    const last = Math.max(at(fromMs), at(untilMs) - 1);
    for (let cell = at(fromMs); cell <= last; cell++) cells[cell] = letter;
  };
  fill(row.fromMs, row.untilMs, '─');
  for (const { phase, fromMs, untilMs } of row.phases) {
    // A wait before the span is the sender's time, drawn in the row of whoever measured it.
    fill(Math.max(0, fromMs), untilMs, PHASE_LETTERS[phase]);
  }
  const notes = row.notes.length === 0 ? '' : `  ${row.notes.join(', ')}`;
  const time = durationText(row.untilMs - row.fromMs).padStart(TIME_WIDTH);
  const line = `${fitted.padEnd(LABEL_WIDTH)} ${cells.join('')}${time}`;
  return row.failed ? `${colour('red', line)}${notes}` : `${line}${notes}`;
}

const keyLine = (): string =>
  `key  ─ span  ${Object.entries(PHASE_LETTERS)
    .map(([phase, letter]) => `${letter} ${phase}`)
    .join('  ')}`;

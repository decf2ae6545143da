import { join, relative } from 'node:path';
import { durationText } from '#loadtest/report/number-text.ts';
import type { RunResult } from '#loadtest/experiments/run-result.ts';
import type { SessionProgress } from '#loadtest/replay/export-tracker.ts';
import type { Summary } from '#loadtest/results/summary.ts';
import type { VerbContext } from './verb.ts';

/** A line that is overwritten may come often, one that stays may not. */
const PROGRESS_EVERY_MS = { terminal: 250, file: 3_000 } as const;
/** Vehicles named one by one in the progress line. */
const MAX_NAMED_VEHICLES = 4;
/** Export folders printed one by one at the end. */
const MAX_NAMED_EXPORTS = 10;

export const progressEveryMs = (): number =>
  process.stderr.isTTY ? PROGRESS_EVERY_MS.terminal : PROGRESS_EVERY_MS.file;

/** `veh-0001 34/33/31  veh-0002 …  sent/acknowledged/exported` */
export function progressLine(progress: readonly SessionProgress[]): string {
  const counts = ({ sent, acknowledged, exported }: Counts): string =>
    `${sent}/${acknowledged}/${exported}`;
  const named =
    progress.length <= MAX_NAMED_VEHICLES
      ? progress.map((one) => `${one.vehicle} ${counts(one)}`)
      : [`${progress.length} vehicles ${counts(sumOf(progress))}`];
  return `sent/acknowledged/exported: ${named.join('  ')}`;
}

type Counts = Pick<SessionProgress, 'sent' | 'acknowledged' | 'exported'>;

const sumOf = (progress: readonly SessionProgress[]): Counts => ({
  sent: progress.reduce((sum, { sent }) => sum + sent, 0),
  acknowledged: progress.reduce((sum, { acknowledged }) => sum + acknowledged, 0),
  exported: progress.reduce((sum, { exported }) => sum + exported, 0),
});

/** The short table, where everything is, and the verdict. */
export function tellRun(result: RunResult, context: VerbContext): void {
  const { summary, records, latest, folder } = result;
  const { terminal, root } = context;
  terminal.document(summary);
  terminal.print('');
  for (const [name, value] of tableRows(summary, records.config.vehicles)) {
    terminal.print(`${name.padEnd(10)}${value}`);
  }
  const scaling = scalingLines(summary);
  if (scaling.length > 0) terminal.print('');
  for (const line of scaling) terminal.print(line);
  // One compares experiments with each other: the newest is not enough to find this one again.
  const isExperiment = records.config.kind === 'Run' && records.config.experiment !== undefined;
  const shown = relative(root, isExperiment ? folder : latest);
  terminal.print('');
  terminal.print(`${'report'.padEnd(10)}${join(shown, 'report.html')}`);
  if (records.config.kind === 'Demo') tellExports(records.run.vehicles, shown, context);
  for (const problem of summary.problems) {
    terminal.print(terminal.colour('red', `problem   ${problem}`));
  }
  const verdict = summary.valid ? 'Everything that was sent came out.' : 'The run is not valid.';
  terminal.print(terminal.colour(summary.valid ? 'green' : 'red', verdict));
}

function tableRows(summary: Summary, vehicles: number): readonly (readonly [string, string])[] {
  const { batches, windows, frames, balanced } = summary.ledger;
  const { p50, p95, max } = summary.latencyMs;
  const decoded = `${frames.decoded} decoded, ${frames.unknownId} unknown id`;
  return [
    ['vehicles', String(vehicles)],
    ['batches', `${batches.sent} sent, ${batches.stored} stored, ${batches.inWindows} in windows`],
    [
      'windows',
      `${windows.closed} closed, ${windows.processed} processed, ${windows.exported} exported`,
    ],
    ...(frames.recorded === 0
      ? []
      : ([['frames', `${frames.recorded} recorded, ${decoded}`]] as const)),
    ['latency', `p50 ${durationText(p50)}, p95 ${durationText(p95)}, max ${durationText(max)}`],
    ...burstRows(summary.stages),
    ...traceRows(summary.traces),
    ['ledger', balanced ? 'balances' : 'DOES NOT BALANCE'],
  ];
}

/** Whether every batch's way is known, and how much of it nothing accounts for. */
function traceRows(traces: Summary['traces']): readonly (readonly [string, string])[] {
  if (traces === undefined || traces === null) return [];
  const { complete, expected, parked, duplicates, residualMsP99, residualMsMax } = traces;
  const stated = parked + duplicates;
  const residual = residualMsP99 ?? residualMsMax;
  const said = [
    `${complete} of ${expected} complete`,
    ...(stated === 0 ? [] : [`${stated} with a reason`]),
    ...(residual === null ? [] : [`nothing covers ${durationText(residual)} of the way`]),
  ];
  return [['traces', said.join(', ')]];
}

const burstRows = (stages: Summary['stages']): readonly (readonly [string, string])[] =>
  Object.entries(stages).flatMap(([name, stage]) => {
    if (!('bursts' in stage) || stage.bursts === undefined) return [];
    const { n, cpuMs, readyMs } = stage.bursts;
    const times = `CPU p50 ${durationText(cpuMs.p50)}, waiting for a CPU p50 ${durationText(readyMs.p50)}`;
    return [['bursts', `${name}: ${n}, ${times}`] as const];
  });

/** How each stage was scaled, as a table; nothing where the run had no cluster of its own. */
function scalingLines({ policy, stages }: Summary): readonly string[] {
  const rows = Object.entries(stages).flatMap(([name, stage]) => {
    if (!('replicasMax' in stage) || stage.replicasMax === undefined) return [];
    const { replicasMax, coldStarts = 0, coldStartMs, replicaSeconds = 0, cpuSeconds = 0 } = stage;
    return [
      [
        name,
        String(replicasMax),
        String(coldStarts),
        durationText(coldStartMs?.p50 ?? null),
        replicaSeconds.toFixed(1),
        cpuSeconds.toFixed(1),
        stage.zeroBefore === true ? 'yes' : 'no',
        stage.backToZero === true ? 'yes' : 'no',
      ],
    ];
  });
  if (rows.length === 0) return [];
  const heads = ['most', 'starts', 'p50', 'replica-s', 'CPU-s', 'from zero', 'to zero'];
  const table = [[`scaled by ${policy ?? '?'}`, ...heads], ...rows];
  const widths = heads.map((head, index) =>
    Math.max(head.length, ...rows.map((row) => row[index + 1]?.length ?? 0)),
  );
  const nameWidth = Math.max(...table.map(([name = '']) => name.length));
  return table.map(([name = '', ...cells]) =>
    [name.padEnd(nameWidth), ...cells.map((cell, index) => cell.padStart(widths[index] ?? 0))].join(
      '  ',
    ),
  );
}

function tellExports(
  vehicles: RunResult['records']['run']['vehicles'],
  shown: string,
  { terminal }: VerbContext,
): void {
  for (const { vehicle, session } of vehicles.slice(0, MAX_NAMED_EXPORTS)) {
    terminal.print(
      `${'export'.padEnd(10)}${join(shown, 'export', vehicle, session)}/{recorded,raster}`,
    );
  }
  const more = vehicles.length - MAX_NAMED_EXPORTS;
  if (more > 0) terminal.print(`${' '.repeat(10)}and ${more} more vehicles`);
}

import { randomBytes } from 'node:crypto';
import { join, relative, resolve } from 'node:path';
import { TachographError } from '#kernel/core/errors.ts';
import { systemClock } from '#kernel/system/system-clock.ts';
import { runDemo, type DemoResult } from '#loadtest/experiments/run-demo.ts';
import type { SessionProgress } from '#loadtest/replay/export-tracker.ts';
import { durationText } from '#loadtest/report/number-text.ts';
import { DEFAULT_OVERLAY } from './up-verb.ts';
import type { Verb, VerbContext } from './verb.ts';

const DEFAULTS = { vehicles: 3, speed: 5, seed: 1 } as const;
const MAX_VEHICLES = 100;
const MAX_SPEED = 1_000;
/** A line that is overwritten may come often, one that stays may not. */
const PROGRESS_EVERY_MS = { terminal: 250, file: 3_000 } as const;
/** Vehicles named one by one in the progress line. */
const MAX_NAMED_VEHICLES = 4;
/** Export folders printed one by one at the end. */
const MAX_NAMED_EXPORTS = 10;

/** `tachograph demo`, which is `make demo`. */
export const demoVerb: Verb = {
  name: 'demo',
  summary: 'replays a recorded drive through the whole pipeline and checks the account',
  details: [
    'Starts the pipeline from the Knative YAML, lets vehicles replay the drive, waits until all that',
    'was sent has come out, stops everything and writes a result folder with a report.',
    'Exit code 0 only when the ledger balances and no data is missing.',
  ],
  options: {
    vehicles: { kind: 'text', value: 'N', about: `1 to ${MAX_VEHICLES} (default: 3)` },
    speed: { kind: 'text', value: 'X', about: `times real time, up to ${MAX_SPEED} (default: 5)` },
    seed: { kind: 'text', value: 'N', about: 'of vehicles, sessions and phases (default: 1)' },
    drive: { kind: 'text', value: 'FILE', about: 'candump log (default: the recorded minute)' },
    campaign: { kind: 'text', value: 'FILE', about: 'default: examples/campaigns/demo.yaml' },
    'keep-store': { kind: 'flag', about: 'keep store and streams in the result folder' },
  },
  async run(context) {
    const numbers = {
      vehicles: numberOption(context, 'vehicles', { min: 1, max: MAX_VEHICLES, integer: true }),
      speed: numberOption(context, 'speed', { min: 0.001, max: MAX_SPEED, integer: false }),
      seed: numberOption(context, 'seed', { min: 0, max: 4_294_967_295, integer: true }),
    };
    const { root, env, signal, terminal } = context;
    const result = await runDemo({
      ...numbers,
      root,
      results: join(root, 'results'),
      overlay: DEFAULT_OVERLAY,
      drivePath: resolve(
        context.option('drive') ?? join(root, 'examples/drive/drive-60s.candump.gz'),
      ),
      campaignPath: resolve(
        context.option('campaign') ?? join(root, 'examples/campaigns/demo.yaml'),
      ),
      keepStore: context.flag('keep-store'),
      env,
      platform: { name: process.platform, architecture: process.arch },
      clock: systemClock,
      randomBytes,
      signal,
      onNote: (line) => terminal.note(line),
      onProgress: (progress) => terminal.progress(progressLine(progress)),
      progressEveryMs: process.stderr.isTTY ? PROGRESS_EVERY_MS.terminal : PROGRESS_EVERY_MS.file,
    });
    tell(result, context);
    return result.summary.valid ? 0 : 1;
  },
};

interface NumberRange {
  readonly min: number;
  readonly max: number;
  readonly integer: boolean;
}

function numberOption(
  context: VerbContext,
  name: keyof typeof DEFAULTS,
  { min, max, integer }: NumberRange,
): number {
  const text = context.option(name);
  if (text === undefined) return DEFAULTS[name];
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max && (!integer || Number.isInteger(value))) return value;
  const remedy = `use ${integer ? 'an integer' : 'a number'} from ${min} to ${max}`;
  throw new TachographError('CONFIG_INVALID', { name: `--${name}`, value: text, remedy });
}

/** `veh-0001 34/33/31  veh-0002 …  sent/acknowledged/exported` */
function progressLine(progress: readonly SessionProgress[]): string {
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

/** The short table and where everything is. */
function tell(result: DemoResult, { terminal, root }: VerbContext): void {
  const { summary, records, latest } = result;
  terminal.document(summary);
  const { batches, windows, frames } = summary.ledger;
  const rows: readonly (readonly [string, string])[] = [
    ['vehicles', String(records.config.vehicles)],
    ['batches', `${batches.sent} sent, ${batches.stored} stored, ${batches.inWindows} in windows`],
    [
      'windows',
      `${windows.closed} closed, ${windows.processed} processed, ${windows.exported} exported`,
    ],
    [
      'frames',
      `${frames.recorded} recorded, ${frames.decoded} decoded, ${frames.unknownId} unknown id`,
    ],
    [
      'latency',
      `p50 ${durationText(summary.latencyMs.p50)}, p95 ${durationText(summary.latencyMs.p95)}, ` +
        `max ${durationText(summary.latencyMs.max)}`,
    ],
    ['ledger', summary.ledger.balanced ? 'balances' : 'DOES NOT BALANCE'],
  ];
  terminal.print('');
  for (const [name, value] of rows) terminal.print(`${name.padEnd(10)}${value}`);
  const shown = relative(root, latest);
  terminal.print('');
  terminal.print(`${'report'.padEnd(10)}${join(shown, 'report.html')}`);
  for (const { vehicle, session } of records.run.vehicles.slice(0, MAX_NAMED_EXPORTS)) {
    terminal.print(
      `${'export'.padEnd(10)}${join(shown, 'export', vehicle, session)}/{recorded,raster}`,
    );
  }
  const more = records.run.vehicles.length - MAX_NAMED_EXPORTS;
  if (more > 0) terminal.print(`${' '.repeat(10)}and ${more} more vehicles`);
  for (const problem of summary.problems) {
    terminal.print(terminal.colour('red', `problem   ${problem}`));
  }
  const verdict = summary.valid ? 'Everything that was sent came out.' : 'The run is not valid.';
  terminal.print(terminal.colour(summary.valid ? 'green' : 'red', verdict));
}

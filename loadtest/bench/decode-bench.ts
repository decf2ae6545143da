import { readFile } from 'node:fs/promises';
import { Can, Dbc } from 'candied';
import type { SignalColumn } from '#kernel/columns/columns.ts';
import { readCanLog } from '#kernel/canlog/read-can-log.ts';
import { must } from '#kernel/core/assert.ts';
import type { Clock } from '#kernel/core/clock.ts';
import type { MessageDecoder } from '#kernel/dbc/message-decoder.ts';
import { compileDatabase, newColumns } from '#kernel/dbc/message-decoder.ts';
import { parseDbc } from '#kernel/dbc/parse-dbc.ts';
import type { BenchRow } from './bench-row.ts';

const DRIVE = 'examples/drive/drive-60s.candump.gz';
const DBC = 'examples/drive/toyota_2017.dbc';
const BUS = 'can0';

const TARGET_FRAMES_PER_S = 500_000;
const TARGET_RATIO = 6;

/** Odd, so that the median is one of them. The first repetition of each warms up and is left out. */
const REPETITIONS = 7;
/** Passes over the drive in one repetition of ours, which is much the faster one. */
const OWN_PASSES = 20;

interface Frame {
  readonly decoder: MessageDecoder;
  readonly data: Uint8Array;
  readonly columns: readonly SignalColumn[];
  readonly row: number;
}

/** The frames of the DBC's bus that it describes, each with its row in columns that exist already. */
async function loadFrames(root: string): Promise<readonly Frame[]> {
  const database = compileDatabase(parseDbc(await readFile(`${root}/${DBC}`)));
  const known: { readonly decoder: MessageDecoder; readonly data: Uint8Array }[] = [];
  for await (const { bus, id, extended, data } of readCanLog(`${root}/${DRIVE}`)) {
    const decoder = bus === BUS ? database.find(id, extended) : undefined;
    if (decoder !== undefined) known.push({ decoder, data });
  }
  const groups = [...Map.groupBy(known, ({ decoder }) => decoder).values()];
  const rows = new Map(
    groups.flatMap((group) => {
      const columns = group
        .slice(0, 1)
        .flatMap(({ decoder }) => newColumns(decoder.message, group.length));
      return group.map((frame, row) => [frame, { ...frame, columns, row }] as const);
    }),
  );
  // In the order of the log, which mixes messages as a bus does.
  return known.flatMap((frame) => rows.get(frame) ?? []);
}

interface Sample {
  readonly framesPerS: number;
  readonly cpuUsPerFrame: number;
}

/** Runs `decodeAll`, which decodes `frames` frames, and tells wall time and the process's CPU time. */
function measure(clock: Clock, frames: number, decodeAll: () => void): Sample {
  const cpuBefore = process.cpuUsage();
  const startMs = clock.monotonicMs();
  decodeAll();
  const tookMs = clock.monotonicMs() - startMs;
  const { user, system } = process.cpuUsage(cpuBefore);
  return { framesPerS: (frames / tookMs) * 1_000, cpuUsPerFrame: (user + system) / frames };
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

const middleOf = (samples: readonly Sample[]): Sample => ({
  framesPerS: median(samples.map(({ framesPerS }) => framesPerS)),
  cpuUsPerFrame: median(samples.map(({ cpuUsPerFrame }) => cpuUsPerFrame)),
});

function decodeOwn(frames: readonly Frame[]): void {
  for (let pass = 0; pass < OWN_PASSES; pass++) {
    for (const { decoder, data, columns, row } of frames) {
      decoder.decodeRow(data, 0, data.length, columns, row);
    }
  }
}

type CandiedFrame = Parameters<Can['decode']>[0];

/**
 * Decodes with candied and tells which frames it refused: it answers undefined for a frame that is
 * longer or shorter than its message, and throws for others.
 */
function decodeCandied(can: Can, frames: readonly CandiedFrame[]): Set<CandiedFrame> {
  const refused = new Set<CandiedFrame>();
  for (const frame of frames) {
    try {
      if (can.decode(frame) === undefined) refused.add(frame);
    } catch {
      refused.add(frame);
    }
  }
  return refused;
}

/**
 * Frames/s on one core with the recorded drive and its DBC, beside the npm package candied. Everything
 * is loaded beforehand, for each in the form it takes; the repetitions take turns, so that a slow moment
 * of the machine meets all; medians are told.
 *
 * The two are compared on the frames that candied accepts: one that it refuses costs it almost
 * nothing or, as an exception, a lot.
 */
export async function decodeBench(clock: Clock, root = '.'): Promise<readonly BenchRow[]> {
  const frames = await loadFrames(root);
  const can = new Can();
  can.database = new Dbc().load(await readFile(`${root}/${DBC}`, 'utf8'));
  const theirs = frames.map(({ decoder, data }) => toCandied(decoder, data));
  const refused = decodeCandied(can, theirs);
  const theirsShared = theirs.filter((frame) => !refused.has(frame));
  const ownShared = frames.filter((_, index) => !refused.has(must(theirs[index], 'a frame')));
  const samples: Samples[] = [];
  for (let repetition = 0; repetition <= REPETITIONS; repetition++) {
    const sample = {
      own: measure(clock, frames.length * OWN_PASSES, () => decodeOwn(frames)),
      ownShared: measure(clock, ownShared.length * OWN_PASSES, () => decodeOwn(ownShared)),
      candied: measure(clock, theirsShared.length, () => void decodeCandied(can, theirsShared)),
    };
    if (repetition > 0) samples.push(sample);
  }
  const middle = {
    own: middleOf(samples.map(({ own }) => own)),
    ownShared: middleOf(samples.map(({ ownShared }) => ownShared)),
    candied: middleOf(samples.map(({ candied }) => candied)),
  };
  return rowsOf(middle, frames.length, refused.size);
}

interface Samples {
  readonly own: Sample;
  /** On the frames that candied accepts. */
  readonly ownShared: Sample;
  readonly candied: Sample;
}

function toCandied({ message }: MessageDecoder, data: Uint8Array): CandiedFrame {
  return { id: message.id, dlc: data.length, isExtended: message.extended, payload: [...data] };
}

function rowsOf({ own, ownShared, candied }: Samples, frames: number, refused: number): BenchRow[] {
  const ratio = ownShared.framesPerS / candied.framesPerS;
  return [
    {
      name: 'DBC decoder, one core',
      value: own.framesPerS,
      unit: 'frames/s',
      target: `>= ${TARGET_FRAMES_PER_S}`,
      met: own.framesPerS >= TARGET_FRAMES_PER_S,
    },
    { name: 'candied 2.2.0, one core', value: candied.framesPerS, unit: 'frames/s' },
    {
      name: 'DBC decoder over candied, on the frames it accepts',
      value: ratio,
      unit: 'times',
      target: `>= ${TARGET_RATIO}`,
      met: ratio >= TARGET_RATIO,
    },
    { name: 'DBC decoder, CPU time', value: own.cpuUsPerFrame, unit: 'µs/frame' },
    { name: 'candied 2.2.0, CPU time', value: candied.cpuUsPerFrame, unit: 'µs/frame' },
    { name: 'frames of the drive decoded', value: frames, unit: 'frames' },
    { name: 'of these refused by candied', value: refused, unit: 'frames' },
  ];
}

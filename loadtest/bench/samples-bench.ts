import { readFile } from 'node:fs/promises';
import {
  processWindow,
  type ProcessedWindow,
  type RunStep,
} from '#functions/data-processing/pipeline.ts';
import type { WindowInput } from '#functions/data-processing/window-input.ts';
import type { Batch } from '#kernel/batch/batch.ts';
import type { BlockCodec } from '#kernel/columns/block-format.ts';
import { decodeTables } from '#kernel/columns/decode-tables.ts';
import type { Clock } from '#kernel/core/clock.ts';
import { compileDatabase } from '#kernel/dbc/message-decoder.ts';
import { parseDbc } from '#kernel/dbc/parse-dbc.ts';
import { cutDrive } from '#loadtest/vehicles/cut-drive.ts';
import { loadDrive } from '#loadtest/vehicles/drive.ts';
import type { BenchRow } from './bench-row.ts';

const DRIVE = 'examples/drive/drive-60s.candump.gz';
const DBC = 'examples/drive/toyota_2017.dbc';
const BUS = 'can0';

/** Stored bytes per decoded sample on the recorded drive in windows of 10 s. */
export const TARGET_BYTES_PER_SAMPLE = 0.7;

const RESAMPLE = { rasterMs: 100, method: 'hold', maxHoldMs: 1_000 } as const;

/**
 * What the sample codec makes of the recorded drive: bytes of the `recorded` blocks over the decoded
 * samples (present cells), as the stage stores them, headers included; and the speed of both directions
 * on one core. The raster is counted apart, since a campaign chooses how fine it is.
 */
export async function samplesBench(clock: Clock, root = '.'): Promise<readonly BenchRow[]> {
  const { frames } = await loadDrive(`${root}/${DRIVE}`);
  const decoder = compileDatabase(parseDbc(await readFile(`${root}/${DBC}`)));
  const run = async (windowS: number, codec: BlockCodec): Promise<Totals> => {
    const slices = cutDrive(frames, () => true, windowS * 1_000_000);
    const batches = slices.map((slice, seq) => batchOf(slice, seq));
    const totals = new Totals();
    for (const [index, own] of batches.entries()) {
      const { fromUs, untilUs } = own;
      const before = index === 0 ? [] : batches.slice(index - 1, index);
      const decoders = new Map([[BUS, decoder]]);
      const read = [...before, own];
      const input = { fromUs, untilUs, batches: read, signals: [], resample: RESAMPLE, decoders };
      await totals.add(input, codec, clock);
    }
    return totals;
  };
  // The first run warms the compiler up and is not reported.
  await run(10, 'gzip');
  const tens = await run(10, 'gzip');
  const ones = await run(1, 'gzip');
  const zstd = await run(10, 'zstd');
  return [
    {
      name: 'stored bytes per decoded sample, 10 s windows',
      value: tens.bytesPerSample,
      unit: 'B',
      target: `<= ${TARGET_BYTES_PER_SAMPLE}`,
      met: tens.bytesPerSample <= TARGET_BYTES_PER_SAMPLE,
    },
    { name: 'the same, 1 s windows', value: ones.bytesPerSample, unit: 'B' },
    { name: 'the same, 10 s windows, zstd', value: zstd.bytesPerSample, unit: 'B' },
    {
      name: 'stored bytes per raster value, 100 ms, 10 s windows',
      value: tens.bytesPerCell,
      unit: 'B',
    },
    { name: 'decoded samples', value: tens.samples, unit: 'samples' },
    { name: 'sample codec: both blocks encoded', value: tens.encodedPerS, unit: 'values/s' },
    { name: 'sample codec: both blocks decoded', value: tens.decodedPerS, unit: 'values/s' },
  ];
}

/** Sums over the windows of a run. */
class Totals {
  samples = 0;
  #cells = 0;
  #recordedBytes = 0;
  #rasterBytes = 0;
  #encodeMs = 0;
  #decodeMs = 0;

  async add(input: WindowInput, codec: BlockCodec, clock: Clock): Promise<void> {
    const step: RunStep = async (name, work) => {
      const startMs = clock.monotonicMs();
      const result = work();
      if (name === 'compress') this.#encodeMs += clock.monotonicMs() - startMs;
      return result;
    };
    const processed: ProcessedWindow = await processWindow(input, codec, step);
    const startMs = clock.monotonicMs();
    decodeTables(processed.recorded);
    const raster = decodeTables(processed.raster);
    this.#decodeMs += clock.monotonicMs() - startMs;
    this.samples += processed.samples;
    this.#recordedBytes += processed.recorded.length;
    this.#rasterBytes += processed.raster.length;
    for (const { present } of raster.flatMap((table) => table.columns)) {
      for (const flag of present) this.#cells += flag;
    }
  }

  get bytesPerSample(): number {
    return this.#recordedBytes / this.samples;
  }

  get bytesPerCell(): number {
    return this.#rasterBytes / this.#cells;
  }

  get encodedPerS(): number {
    return (this.samples + this.#cells) / (this.#encodeMs / 1_000);
  }

  get decodedPerS(): number {
    return (this.samples + this.#cells) / (this.#decodeMs / 1_000);
  }
}

function batchOf(slice: ReturnType<typeof cutDrive>[number], seq: number): Batch {
  const { fromUs, untilUs, end, seen, matched, groups } = slice;
  return {
    vehicle: 'bench',
    session: 'drive',
    seq,
    campaign: 'bench',
    campaignVersion: 1,
    fromUs,
    untilUs,
    clock: { monotonicUs: fromUs, wallUs: fromUs, source: 'none' },
    end,
    counts: { seen, matched, recorded: matched, dropped: {} },
    groups,
  };
}

import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { groupFrames } from '#kernel/batch/group-frames.ts';
import type { CanFrame } from '#kernel/canlog/can-frame.ts';
import { readCanLog } from '#kernel/canlog/read-can-log.ts';
import { decodeTables } from '#kernel/columns/decode-tables.ts';
import { concatRecorded, mergeRaster } from '#kernel/columns/merge-tables.ts';
import { compileDatabase } from '#kernel/dbc/message-decoder.ts';
import { parseDbc } from '#kernel/dbc/parse-dbc.ts';
import { type ProcessedWindow, processWindow, type RunStep, STEPS } from './pipeline.ts';
import { batchOf, columnOf } from './testing/window-fixtures.ts';
import type { WindowInput } from './window-input.ts';

const LOG = 'examples/drive/drive-60s.candump.gz';
const DECODER = compileDatabase(parseDbc(readFileSync('examples/drive/toyota_2017.dbc')));
const now: RunStep = async (_name, work) => work();

/** The first two seconds of the recorded drive, from its first frame on. */
const frames: CanFrame[] = [];
let originUs = 0;

beforeAll(async () => {
  for await (const frame of readCanLog(LOG)) {
    originUs = frames[0]?.timeUs ?? frame.timeUs;
    if (frame.timeUs - originUs >= 2_100_000) break;
    if (frame.timeUs - originUs < 2_000_000) frames.push(frame);
  }
});

function windowOf(fromUs: number, untilUs: number, batchUs: number, method = 'hold'): WindowInput {
  const batches = Array.from({ length: 2_000_000 / batchUs }, (_, seq) => {
    const own = frames.filter((frame) => Math.floor((frame.timeUs - originUs) / batchUs) === seq);
    const batch = batchOf(seq, seq * batchUs, (seq + 1) * batchUs, []);
    return { ...batch, groups: groupFrames(own, originUs) };
  });
  return {
    fromUs,
    untilUs,
    batches: batches.filter((batch) => batch.untilUs > fromUs - 500_000 && batch.fromUs < untilUs),
    signals: [],
    resample: { rasterMs: 50, method: method as 'hold', maxHoldMs: 500 },
    decoders: new Map([['can0', DECODER]]),
  };
}

test('processWindow of the drive accounts for every frame and decodes bus can0', async () => {
  const processed = await processWindow(windowOf(0, 2_000_000, 1_000_000), 'gzip', now);
  const onBus = frames.filter(({ bus, id }) => bus === 'can0' && DECODER.find(id, false));
  expect(frames.length).toBeGreaterThan(3_000);
  expect(processed.frames).toMatchObject({
    recorded: frames.length,
    decoded: onBus.length,
    unknownId: frames.length - onBus.length,
    noData: 0,
  });
  const recorded = decodeTables(processed.recorded);
  expect(recorded.reduce((sum, table) => sum + table.timeUs.length, 0)).toBe(onBus.length);
  expect(columnOf(recorded, 'SPEED', 'SPEED').unit).toBe('km/h');
  expect(processed.quality.length).toBe(recorded.flatMap((table) => table.columns).length);
});

test.each(['hold', 'linear'])(
  'processWindow of two windows, %s, merged equals processWindow of both at once',
  async (method) => {
    const at = (fromUs: number, untilUs: number, batchUs: number): Promise<ProcessedWindow> =>
      processWindow(windowOf(fromUs, untilUs, batchUs, method), 'gzip', now);
    const whole = await at(0, 2_000_000, 2_000_000);
    const parts = [await at(0, 1_000_000, 500_000), await at(1_000_000, 2_000_000, 500_000)];
    const blocks = (name: 'recorded' | 'raster') => parts.map((part) => decodeTables(part[name]));
    expect(concatRecorded(blocks('recorded'))).toEqual(decodeTables(whole.recorded));
    expect(mergeRaster(blocks('raster'))).toEqual(decodeTables(whole.raster));
    expect(parts.reduce((sum, part) => sum + part.samples, 0)).toBe(whole.samples);
  },
);

test('processWindow of equal input gives byte-equal blocks', async () => {
  const first = await processWindow(windowOf(0, 1_000_000, 1_000_000), 'gzip', now);
  expect(await processWindow(windowOf(0, 1_000_000, 1_000_000), 'gzip', now)).toEqual(first);
});

test('processWindow runs its steps in order, and none after a failed one', async () => {
  const names: string[] = [];
  const named: RunStep = async (name, work) => {
    names.push(name);
    return work();
  };
  await processWindow(windowOf(0, 1_000_000, 1_000_000), 'gzip', named);
  expect(names).toEqual(STEPS);
  names.length = 0;
  const failing: RunStep = (name, work) =>
    name === 'resample' ? Promise.reject(new Error('gone')) : named(name, work);
  await expect(processWindow(windowOf(0, 1_000, 1_000_000), 'gzip', failing)).rejects.toThrow(
    'gone',
  );
  expect(names).toEqual(['decode', 'cleanse']);
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MAX_CELLS } from '#kernel/columns/block-format.ts';
import { mergeRaster } from '#kernel/columns/merge-tables.ts';
import type { StoredTable } from '#kernel/columns/stored-table.ts';
import { decode } from './decode.ts';
import { isLinear, resample } from './resample.ts';
import {
  batchOf,
  cellsOf,
  columnOf,
  DECODER,
  inputOf,
  motion,
  type TestFrame,
} from './testing/window-fixtures.ts';
import type { WindowInput } from './window-input.ts';

const rasterOf = (input: WindowInput): StoredTable[] => resample(decode(input), input);
const linear = { rasterMs: 100, method: 'linear', maxHoldMs: 500 } as const;

test('resample hold gives the newest sample at or before each point, none before the first', () => {
  const raster = rasterOf(inputOf([motion(150_000, 1), motion(200_000, 2), motion(299_999, 3)]));
  expect(cellsOf(raster, 'MOTION', 'SPEED')).toEqual([
    [200, 2],
    [300, 3],
    [400, 3],
    [500, 3],
    [600, 3],
    [700, 3],
  ]);
});

test('resample hold keeps a sample of exactly maxHoldMs and drops it 1 µs later', () => {
  expect(cellsOf(rasterOf(inputOf([motion(100_000, 1)])), 'MOTION', 'SPEED').at(-1)).toEqual([
    600, 1,
  ]);
  expect(cellsOf(rasterOf(inputOf([motion(99_999, 1)])), 'MOTION', 'SPEED').at(-1)).toEqual([
    500, 1,
  ]);
});

test('resample hold reads back at most maxHoldMs before the window', () => {
  const window = { fromUs: 1_000_000, untilUs: 2_000_000 };
  const cells = (timeUs: number): unknown[] =>
    rasterOf(inputOf([motion(timeUs, 7)], window)).map((table) => Array.from(table.timeUs));
  expect(cells(499_999)).toEqual([]);
  expect(cells(500_000)).toEqual([[1_000_000]]);
  expect(cells(700_000)).toEqual([[1_000_000, 1_100_000, 1_200_000]]);
});

test('resample hold takes the last recorded of samples with one time', () => {
  const raster = rasterOf(inputOf([motion(900_000, 1), motion(900_000, 2)]));
  expect(cellsOf(raster, 'MOTION', 'SPEED')).toEqual([[900, 2]]);
});

test('resample hold keeps raw integers, 64-bit ones exact', () => {
  const data = [255, 255, 255, 255, 255, 255, 255, 255];
  const raster = rasterOf(inputOf([{ timeUs: 900_000, id: 200, data }]));
  expect(cellsOf(raster, 'ODO', 'DISTANCE')).toEqual([[900, 2n ** 64n - 1n]]);
  expect(columnOf(raster, 'ODO', 'DISTANCE')).toMatchObject({ factor: 0.001, bitLength: 64 });
});

test('resample anchors the grid at the session’s zero, also when the window starts between points', () => {
  const grid = { rasterMs: 300, method: 'hold', maxHoldMs: 500 } as const;
  const window = { fromUs: 1_000_000, untilUs: 2_000_000, resample: grid };
  const frames = [1_000_000, 1_300_000, 1_600_000].map((timeUs) => motion(timeUs, 1));
  const [table] = rasterOf(inputOf(frames, window));
  expect(table?.timeUs).toEqual(Float64Array.of(1_200_000, 1_500_000, 1_800_000));
});

test('resample linear interpolates scaled signals in physical units and holds all others', () => {
  const frames = [motion(0, 100, [1, 1, 0]), motion(400_000, 180, [9, 0, 0xf0])];
  const raster = rasterOf(inputOf(frames, { resample: linear }));
  expect(cellsOf(raster, 'MOTION', 'SPEED')).toEqual([
    [0, 50],
    [100, 60],
    [200, 70],
    [300, 80],
    [400, 90],
  ]);
  expect(columnOf(raster, 'MOTION', 'SPEED')).toMatchObject({
    factor: 1,
    offset: 0,
    valueType: 'float64',
    unit: 'km/h',
  });
  // -16 raw is -48 °C; from -40 °C in four steps of -2.
  expect(cellsOf(raster, 'MOTION', 'TEMP').slice(0, 3)).toEqual([
    [0, -40],
    [100, -42],
    [200, -44],
  ]);
  expect(cellsOf(raster, 'MOTION', 'GEAR').slice(0, 5)).toEqual([
    [0, 1],
    [100, 1],
    [200, 1],
    [300, 1],
    [400, 0],
  ]);
  expect(cellsOf(raster, 'MOTION', 'COUNT')[1]).toEqual([100, 1]);
});

test('resample linear joins samples exactly maxHoldMs apart, not 1 µs more', () => {
  const apart = (untilUs: number): unknown[] =>
    cellsOf(
      rasterOf(inputOf([motion(250_000, 0), motion(untilUs, 100)], { resample: linear })),
      'MOTION',
      'SPEED',
    );
  expect(apart(750_000)).toEqual([
    [300, 5],
    [400, 15],
    [500, 25],
    [600, 35],
    [700, 45],
  ]);
  const tooFar = inputOf([motion(250_000, 0), motion(750_001, 100)], { resample: linear });
  expect(cellsOf(rasterOf(tooFar), 'MOTION', 'SPEED')).toEqual([]);
});

test('resample linear makes the cells before its start when the later sample is its own', () => {
  const frames = [motion(950_000, 0), motion(1_150_000, 100)];
  const first = inputOf(frames, { resample: linear });
  const second = inputOf(frames, { resample: linear, fromUs: 1_000_000, untilUs: 2_000_000 });
  expect(rasterOf(first).map((table) => Array.from(table.timeUs))).toEqual([]);
  expect(cellsOf(rasterOf(second), 'MOTION', 'SPEED')).toEqual([
    [1_000, 12.5],
    [1_100, 37.5],
  ]);
  const early = [motion(850_000, 0), motion(1_050_000, 100)];
  const late = { resample: linear, fromUs: 1_000_000, untilUs: 2_000_000 };
  expect(cellsOf(rasterOf(inputOf(early, late)), 'MOTION', 'SPEED')).toEqual([
    [900, 12.5],
    [1_000, 37.5],
  ]);
});

test('isLinear is false for labels, selectors, single bits and whole numbers', () => {
  const signals = [100, 300].flatMap((id) => DECODER.find(id, false)?.message.signals ?? []);
  const named = Object.fromEntries(
    signals.map((one) => [one.name, isLinear(one, { resample: linear })]),
  );
  expect(named).toEqual({
    SPEED: true,
    COUNT: false,
    GEAR: false,
    TEMP: true,
    PAGE: false,
    PRESSURE: true,
    FLOW: true,
  });
  const [speed] = signals;
  if (speed === undefined) throw new Error('SPEED is the first signal');
  expect(isLinear({ ...speed, bitLength: 1 }, { resample: linear })).toBe(false);
  expect(isLinear(speed, { resample: { ...linear, method: 'hold' } })).toBe(false);
});

test('resample refuses a raster finer than a block holds before it allocates', () => {
  const fine = { rasterMs: 1, method: 'hold', maxHoldMs: 500 } as const;
  const points = Math.ceil((MAX_CELLS + 1) / 5);
  const input = inputOf([motion(0, 1)], { untilUs: points * 1_000, resample: fine });
  expect(() => rasterOf(input)).toThrow(/8388610 cells/);
});

const cellCount = (tables: readonly StoredTable[]): number =>
  tables
    .flatMap(({ columns }) => columns)
    .reduce((sum, { present }) => sum + present.filter((flag) => flag === 1).length, 0);

/** A session of several windows with gaps, truncated frames and changing pages. */
const session = fc.record({
  method: fc.constantFrom('hold' as const, 'linear' as const),
  rasterMs: fc.constantFrom(7, 10, 50),
  maxHoldMs: fc.constantFrom(0, 20, 60, 150),
  windowUs: fc.constantFrom(100_000, 130_000),
  frames: fc.array(
    fc.record({
      timeUs: fc.oneof(
        fc.integer({ min: 0, max: 799_999 }),
        fc.integer({ min: 0, max: 79 }).map((step) => step * 10_000),
      ),
      id: fc.constantFrom(100, 300, 999),
      data: fc.oneof(
        fc.uint8Array({ minLength: 4, maxLength: 8 }),
        fc
          .uint8Array({ minLength: 5, maxLength: 5 })
          .map((data) => data.fill(data[1] as number, 0, 1)),
        fc.uint8Array({ maxLength: 3 }),
        fc
          .tuple(fc.nat(1), fc.nat(255))
          .map(([page, value]) => Uint8Array.of(page, value, 0, 0, 0)),
      ),
    }),
    { maxLength: 60 },
  ),
});

test('resample window by window and merged equals the whole session at once', () => {
  let cells = 0;
  fc.assert(
    fc.property(session, ({ frames, windowUs, ...resample }) => {
      const endUs = Math.ceil(800_000 / windowUs) * windowUs;
      const all: TestFrame[] = frames.map((frame) => ({ ...frame, data: [...frame.data] }));
      const whole = inputOf(all, {
        resample,
        untilUs: endUs,
        batches: [batchOf(0, 0, endUs, all)],
      });
      const windows = Array.from({ length: endUs / windowUs }, (_, index) => ({
        fromUs: index * windowUs,
        untilUs: (index + 1) * windowUs,
      }));
      const batches = windows.map(({ fromUs, untilUs }, seq) => {
        const own = all.filter(({ timeUs }) => timeUs >= fromUs && timeUs < untilUs);
        return batchOf(seq, fromUs, untilUs, own);
      });
      const parts = windows.map((window) => {
        const backUs = window.fromUs - resample.maxHoldMs * 1_000;
        const needed = batches.filter(
          (batch) => batch.untilUs > backUs && batch.fromUs < window.untilUs,
        );
        return rasterOf(inputOf([], { ...window, resample, batches: needed }));
      });
      const expected = mergeRaster([rasterOf(whole)]);
      expect(mergeRaster(parts)).toEqual(expected);
      // Each cell is made by one window alone.
      expect(cellCount(parts.flat())).toBe(cellCount(expected));
      cells += cellCount(expected);
    }),
    { numRuns: 400 },
  );
  expect(cells).toBeGreaterThan(1_000);
});

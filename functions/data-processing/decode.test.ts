import { expect, test } from 'vitest';
import { MAX_CELLS } from '#kernel/columns/block-format.ts';
import { decode, MAX_LISTED_IDS, ownRows } from './decode.ts';
import { inputOf, motion, type TestFrame } from './testing/window-fixtures.ts';

const rawColumns = (window: ReturnType<typeof decode>, message: string): unknown => {
  const decoded = window.tables.find(({ table }) => table.message.name === message);
  return Object.fromEntries(
    (decoded === undefined ? [] : ownRows(decoded).columns).map((column) => [
      column.signal.name,
      Array.from(column.present, (flag, row) => (flag === 1 ? column.values[row] : null)),
    ]),
  );
};

test('decode gives raw integers of every signal, 64-bit ones exact', () => {
  const window = decode(
    inputOf([
      motion(10, 200, [7, 0b01, 0xff]),
      { timeUs: 20, id: 200, data: [255, 255, 255, 255, 255, 255, 255, 255] },
    ]),
  );
  expect(rawColumns(window, 'MOTION')).toEqual({ SPEED: [200], COUNT: [7], GEAR: [1], TEMP: [-1] });
  expect(rawColumns(window, 'ODO')).toEqual({ DISTANCE: [2n ** 64n - 1n] });
  expect(window.frames).toMatchObject({ recorded: 2, decoded: 2, unknownId: 0, noData: 0 });
});

test('decode of a truncated frame keeps the signals that fit and counts the frame', () => {
  const window = decode(inputOf([{ timeUs: 10, id: 100, data: [9, 8] }, motion(20, 1)]));
  expect(rawColumns(window, 'MOTION')).toMatchObject({
    SPEED: [9, 1],
    COUNT: [8, 0],
    GEAR: [null, 0],
  });
  expect(window.frames).toMatchObject({ decoded: 2, truncated: 1, longer: 0 });
});

test('decode of a frame longer than its message counts it and decodes it', () => {
  const window = decode(inputOf([{ timeUs: 10, id: 100, data: [9, 8, 0, 0, 1, 2] }]));
  expect(rawColumns(window, 'MOTION')).toMatchObject({ SPEED: [9], COUNT: [8] });
  expect(window.frames).toMatchObject({ decoded: 1, longer: 1, truncated: 0 });
});

test('decode of multiplexed frames fills the selected page and counts unknown selectors by id', () => {
  const page = (timeUs: number, selector: number): TestFrame => ({
    timeUs,
    id: 300,
    data: [selector, 0, 0, 0x80, 0x3f],
  });
  const window = decode(inputOf([page(10, 0), page(20, 1), page(30, 9)]));
  expect(rawColumns(window, 'MUX')).toEqual({
    PAGE: [0, 1, 9],
    PRESSURE: [0, null, null],
    FLOW: [null, 1, null],
  });
  expect(window.frames).toMatchObject({
    decoded: 3,
    unknownSelector: 1,
    unknownSelectors: [{ bus: 'can0', id: 300, extended: false, frames: 1 }],
  });
});

test('decode counts unknown ids, foreign buses and frames without data so that the account adds up', () => {
  const window = decode(
    inputOf([
      motion(10, 1),
      { timeUs: 20, id: 999, data: [1] },
      { timeUs: 30, id: 999, data: [2] },
      { timeUs: 30, id: 100, data: [1, 2, 3, 4], extended: true },
      { ...motion(40, 1), bus: 'can1' },
      { timeUs: 50, id: 100, data: [], kind: 'remote' },
    ]),
  );
  expect(window.frames).toEqual({
    recorded: 6,
    decoded: 1,
    unknownId: 4,
    noData: 1,
    truncated: 0,
    unknownSelector: 0,
    longer: 0,
    unknownIds: [
      { bus: 'can0', id: 100, extended: true, frames: 1 },
      { bus: 'can0', id: 999, extended: false, frames: 2 },
      { bus: 'can1', id: 100, extended: false, frames: 1 },
    ],
    unknownSelectors: [],
  });
});

test('decode counts only own frames, and keeps those read back before the own rows', () => {
  const window = decode(
    inputOf([motion(600_000, 1), { timeUs: 700_000, id: 999, data: [] }, motion(1_100_000, 2)], {
      fromUs: 1_000_000,
      untilUs: 2_000_000,
    }),
  );
  expect(window.frames).toMatchObject({ recorded: 1, decoded: 1, unknownId: 0, unknownIds: [] });
  expect(window.tables[0]?.table.timeUs).toEqual(Float64Array.of(600_000, 1_100_000));
  expect(rawColumns(window, 'MOTION')).toMatchObject({ SPEED: [2] });
});

test('decode with listed signals keeps their columns only and counts frames of all messages', () => {
  const signal = { name: 'MOTION.COUNT', bus: 'can0', record: { all: true } } as const;
  const elsewhere = { name: 'ODO.DISTANCE', bus: 'can1', record: { all: true } } as const;
  const frames = [motion(10, 1, [5, 0, 0]), { timeUs: 20, id: 200, data: [1] }];
  const window = decode(inputOf(frames, { signals: [signal, elsewhere] }));
  expect(window.tables.map(({ table }) => table.message.name)).toEqual(['MOTION']);
  expect(rawColumns(window, 'MOTION')).toEqual({ COUNT: [5] });
  expect(window.frames).toMatchObject({ recorded: 2, decoded: 2, truncated: 1 });
});

test('decode of an empty window gives no table and an account of zeros', () => {
  const window = decode(inputOf([]));
  expect(window.tables).toEqual([]);
  expect(window.frames).toMatchObject({ recorded: 0, decoded: 0 });
});

test('decode lists at most MAX_LISTED_IDS unknown ids, the most frequent, and counts all', () => {
  const frames = Array.from({ length: MAX_LISTED_IDS + 5 }, (_, index) => ({
    timeUs: index,
    id: 1_000 + index,
    data: [],
    extended: true,
  }));
  const often = { timeUs: 7, id: 9_999_999, data: [], extended: true };
  const window = decode(inputOf([...frames, often, often]));
  expect(window.frames.unknownId).toBe(MAX_LISTED_IDS + 7);
  expect(window.frames.unknownIds).toHaveLength(MAX_LISTED_IDS);
  expect(window.frames.unknownIds.at(-1)).toMatchObject({ id: 9_999_999, frames: 2 });
});

test('decode refuses a window whose columns exceed MAX_CELLS before it allocates them', () => {
  // MOTION has four signals and the time column.
  const rows = Math.floor(MAX_CELLS / 5) + 1;
  const [batch] = inputOf([motion(10, 1)]).batches;
  const group = batch?.groups[0];
  if (batch === undefined || group === undefined) throw new Error('a batch with one group');
  const many = {
    ...group,
    timeUs: new Float64Array(rows).fill(10),
    lengths: new Uint8Array(rows),
    payload: new Uint8Array(0),
  };
  const input = inputOf([], { batches: [{ ...batch, groups: [many] }] });
  expect(() => decode(input)).toThrow(/8388610 cells; a block holds at most 8388608/);
});

import { expect, test } from 'vitest';
import { gatherFrames } from './gather-frames.ts';
import { batchOf, inputOf, motion } from './testing/window-fixtures.ts';

const speeds = (input: Parameters<typeof gatherFrames>[0]): unknown[] =>
  gatherFrames(input).series.flatMap(({ timeUs, payloads, starts }) =>
    Array.from(timeUs, (time, row) => [time, payloads[row]?.[starts[row] as number]]),
  );

test('gatherFrames sorts unsorted frames by time and counts them', () => {
  const input = inputOf([motion(30, 3), motion(10, 1), motion(20, 2), motion(40, 4)]);
  expect(speeds(input)).toEqual([
    [10, 1],
    [20, 2],
    [30, 3],
    [40, 4],
  ]);
  expect(gatherFrames(input).unsorted).toBe(1);
});

test('gatherFrames keeps frames of one time in batch order, then recorded order', () => {
  const input = inputOf([], {
    batches: [
      batchOf(3, 0, 100, [motion(50, 1), motion(60, 9), motion(50, 2)]),
      batchOf(4, 0, 100, [motion(50, 3)]),
    ],
  });
  expect(speeds(input)).toEqual([
    [50, 1],
    [50, 2],
    [50, 3],
    [60, 9],
  ]);
});

test('gatherFrames takes [fromUs - maxHold, untilUs) and marks the first own row', () => {
  const frames = [499_999, 500_000, 999_999, 1_000_000, 1_999_999, 2_000_000];
  const input = inputOf([], {
    fromUs: 1_000_000,
    untilUs: 2_000_000,
    batches: [
      batchOf(
        0,
        0,
        3_000_000,
        frames.map((timeUs, index) => motion(timeUs, index)),
      ),
    ],
  });
  const [series] = gatherFrames(input).series;
  expect(series?.timeUs).toEqual(Float64Array.of(500_000, 999_999, 1_000_000, 1_999_999));
  expect(series?.ownFrom).toBe(2);
});

test('gatherFrames joins data and FD frames of one id and counts remote and error frames', () => {
  const gathered = gatherFrames(
    inputOf([
      motion(10, 1),
      { ...motion(20, 2), kind: 'fd' },
      { timeUs: 30, id: 100, data: [], kind: 'remote' },
      { timeUs: 40, id: 0, data: [], kind: 'error' },
      { timeUs: 1_000_000, id: 0, data: [], kind: 'error' },
    ]),
  );
  expect(gathered.series.map(({ timeUs }) => timeUs)).toEqual([Float64Array.of(10, 20)]);
  expect(gathered.noData).toBe(2);
});

test('gatherFrames counts repeats of a time and payload in the own span, and keeps them', () => {
  const input = inputOf([], {
    fromUs: 100,
    untilUs: 200,
    batches: [
      batchOf(0, 0, 200, [
        motion(50, 1),
        motion(50, 1),
        motion(150, 1),
        motion(150, 2),
        motion(150, 1),
        motion(150, 1),
        motion(160, 1),
        { timeUs: 160, id: 101, data: [1, 0, 0, 0] },
      ]),
    ],
  });
  const { series } = gatherFrames(input);
  expect(series.map((one) => [one.id, one.timeUs.length, one.duplicates])).toEqual([
    [100, 7, 2],
    [101, 1, 0],
  ]);
});

test('gatherFrames orders series by bus, id and standard before extended', () => {
  const frames = [
    { bus: 'b', id: 1 },
    { bus: 'a', id: 7, extended: true },
    { bus: 'a', id: 7 },
    { bus: 'a', id: 2 },
  ].map((one) => ({ timeUs: 5, data: [0], ...one }));
  const { series } = gatherFrames(inputOf(frames));
  expect(series.map(({ bus, id, extended }) => [bus, id, extended])).toEqual([
    ['a', 2, false],
    ['a', 7, false],
    ['a', 7, true],
    ['b', 1, false],
  ]);
});

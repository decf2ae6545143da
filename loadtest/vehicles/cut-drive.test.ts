import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutDrive, halveSlice, MAX_SLICES } from './cut-drive.ts';
import { canFrame } from './testing/frames.ts';
import type { DriveSlice } from './cut-drive.ts';

const all = (): boolean => true;

const times = (slice: DriveSlice): readonly number[] =>
  slice.groups.flatMap(({ timeUs }) => [...timeUs]);

test('cutDrive with a frame on the boundary: it belongs to the later slice', () => {
  const frames = [0, 999_999, 1_000_000].map((timeUs) => canFrame(timeUs));
  const slices = cutDrive(frames, all, 1_000_000);
  expect(slices.map(times)).toEqual([[0, 999_999], [1_000_000]]);
  expect(slices.map(({ fromUs, untilUs, end }) => [fromUs, untilUs, end])).toEqual([
    [0, 1_000_000, false],
    [1_000_000, 2_000_000, true],
  ]);
});

test('cutDrive with a silent period: an empty slice, so that numbers have no holes', () => {
  const slices = cutDrive([canFrame(0), canFrame(2_500_000)], all, 1_000_000);
  expect(slices.map(({ seen }) => seen)).toEqual([1, 0, 1]);
  expect(slices.map(({ end }) => end)).toEqual([false, false, true]);
});

test('cutDrive with a selection: seen counts all, matched and groups the selected', () => {
  const frames = [canFrame(0, { id: 1 }), canFrame(1, { id: 2 }), canFrame(2, { id: 1 })];
  const [slice] = cutDrive(frames, ({ id }) => id === 1, 1_000_000);
  expect(slice).toMatchObject({ seen: 3, matched: 2 });
  expect(slice?.groups).toHaveLength(1);
});

test('cutDrive with one absurd time: refused, not a million batches', () => {
  const frames = [canFrame(0), canFrame(MAX_SLICES * 1_000)];
  expect(() => cutDrive(frames, all, 1_000)).toThrow(`at most ${MAX_SLICES} upload periods`);
  expect(cutDrive(frames, all, 1_001)).toHaveLength(Math.floor((MAX_SLICES * 1_000) / 1_001) + 1);
});

test('cutDrive of any drive: every frame is in exactly one slice, in its span', () => {
  const drives = fc.array(fc.integer({ min: 0, max: 50_000 }), { minLength: 1, maxLength: 200 });
  fc.assert(
    fc.property(drives, fc.integer({ min: 100, max: 20_000 }), (unsorted, everyUs) => {
      const frames = unsorted.sort((a, b) => a - b).map((timeUs) => canFrame(timeUs));
      const slices = cutDrive(frames, all, everyUs);
      expect(slices.flatMap(times)).toEqual(frames.map(({ timeUs }) => timeUs));
      for (const slice of slices) {
        for (const timeUs of times(slice)) {
          expect(timeUs >= slice.fromUs && timeUs < slice.untilUs).toBe(true);
        }
      }
    }),
  );
});

test('halveSlice: all frames in order on their side of the middle, the end mark on the second', () => {
  const frames = [0, 1, 4, 5, 9].map((timeUs) =>
    canFrame(timeUs, { id: timeUs % 2, data: Uint8Array.of(...Array<number>(timeUs).fill(7)) }),
  );
  const [slice] = cutDrive(frames, ({ timeUs }) => timeUs !== 1, 10);
  if (slice === undefined) throw new Error('one slice');
  const [before, after] = halveSlice(slice);
  expect(before).toMatchObject({ fromUs: 0, untilUs: 5, end: false, seen: 2, matched: 2 });
  expect(after).toMatchObject({ fromUs: 5, untilUs: 10, end: true, seen: 3, matched: 2 });
  expect(times(before)).toEqual([0, 4]);
  expect(times(after)).toEqual([5, 9]);
  expect(after.groups.map(({ payload }) => payload.length)).toEqual([14]);
});

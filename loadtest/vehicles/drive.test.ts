import { expect, test } from 'vitest';
import { collectDrive, loadDrive } from './drive.ts';
import { canFrame } from './testing/frames.ts';
import type { CanFrame } from '#kernel/canlog/can-frame.ts';

async function* log(...frames: CanFrame[]): AsyncGenerator<CanFrame> {
  yield* frames;
}

test('collectDrive of frames in disorder: counted from the earliest, sorted, ties in log order', async () => {
  const drive = await collectDrive(
    log(
      canFrame(1_000_500, { id: 1 }),
      canFrame(1_000_000, { id: 2 }),
      canFrame(1_000_500, { id: 3 }),
    ),
    'x.log',
  );
  expect(drive.frames.map(({ timeUs, id }) => [timeUs, id])).toEqual([
    [0, 2],
    [500, 1],
    [500, 3],
  ]);
});

test('collectDrive of an empty log: refused', async () => {
  await expect(collectDrive(log(), 'empty.log')).rejects.toThrow('empty.log holds no CAN frame');
});

test('collectDrive with one frame more than the limit: refused; with as many: taken', async () => {
  const frames = [canFrame(0), canFrame(1), canFrame(2)];
  await expect(collectDrive(log(...frames), 'x.log', 2)).rejects.toThrow('at most 2 frames');
  expect((await collectDrive(log(...frames), 'x.log', 3)).frames).toHaveLength(3);
});

test('collectDrive of a log with faults: they are counted, the first are named', async () => {
  const faults = [{ line: 7, reason: 'torn' }];
  const faulty = Object.assign(log(canFrame(0)), { faultCount: 2, faults });
  expect(await collectDrive(faulty, 'x.log')).toMatchObject({ faults: 2, firstFaults: faults });
});

test('loadDrive of the recorded minute: 98,800 frames in just under 60 s', async () => {
  const { frames, faults } = await loadDrive('examples/drive/drive-60s.candump.gz');
  expect(frames).toHaveLength(98_800);
  expect(faults).toBe(0);
  expect(frames[0]?.timeUs).toBe(0);
  expect(frames.at(-1)?.timeUs).toBe(59_992_700);
});

test.each([
  ['no/such.log', 'ENOENT'],
  ['examples', 'EISDIR'],
])('loadDrive of %s: DRIVE_UNREADABLE with %s', async (path, code) => {
  await expect(loadDrive(path)).rejects.toThrow(`The drive ${path} cannot be read (${code})`);
});

import { groupFrames } from '#kernel/batch/group-frames.ts';
import { TachographError } from '#kernel/core/errors.ts';
import type { Selection } from './selection.ts';
import type { FrameGroup } from '#kernel/batch/batch.ts';
import type { CanFrame } from '#kernel/canlog/can-frame.ts';

/** What a vehicle records in one period of its upload grid, before it is somebody's batch. */
export interface DriveSlice {
  /** Monotonic µs; covers [fromUs, untilUs). */
  readonly fromUs: number;
  readonly untilUs: number;
  /** The drive's last slice. */
  readonly end: boolean;
  readonly seen: number;
  readonly matched: number;
  readonly groups: readonly FrameGroup[];
}

/** A log with one absurd time must not become a million empty batches. */
export const MAX_SLICES = 100_000;

/**
 * Cuts a drive on the grid of the upload period: slice k covers [k * everyUs, (k + 1) * everyUs), so a
 * frame exactly on a boundary belongs to the later slice: with everyUs = 1,000,000 the frame at
 * 999,999 is in slice 0, the one at 1,000,000 in slice 1. A period without frames is a slice without
 * frames. `frames` ascend in time and are not empty. Throws DRIVE_TOO_LONG above MAX_SLICES.
 */
export function cutDrive(
  frames: readonly CanFrame[],
  select: Selection,
  everyUs: number,
): readonly DriveSlice[] {
  const lastUs = frames.at(-1)?.timeUs ?? 0;
  const slices = Math.floor(lastUs / everyUs) + 1;
  if (slices > MAX_SLICES) {
    throw new TachographError('DRIVE_TOO_LONG', {
      path: 'for this campaign',
      max: MAX_SLICES,
      what: 'upload periods',
    });
  }
  let next = 0;
  return Array.from({ length: slices }, (_, index) => {
    const fromUs = index * everyUs;
    const untilUs = fromUs + everyUs;
    const first = next;
    while (next < frames.length && (frames[next]?.timeUs ?? 0) < untilUs) next++;
    const matched = frames.slice(first, next).filter(select);
    return {
      fromUs,
      untilUs,
      end: index === slices - 1,
      seen: next - first,
      matched: matched.length,
      groups: groupFrames(matched, 0),
    };
  });
}

/**
 * Halves a slice in the middle of its time: what is before the middle, and what is from it on. For a
 * batch that is too large to upload. Only the second half carries the end mark.
 */
export function halveSlice(slice: DriveSlice): readonly [DriveSlice, DriveSlice] {
  const middleUs = Math.floor((slice.fromUs + slice.untilUs) / 2);
  const halves = slice.groups.map((group) => splitGroup(group, middleUs));
  const before = halves.map(([half]) => half).filter(hasFrames);
  const after = halves.map(([, half]) => half).filter(hasFrames);
  const matched = countFrames(before);
  // Frames that were seen and not matched have no recorded time: they are counted in the second half.
  const first = { ...slice, untilUs: middleUs, end: false, seen: matched, matched, groups: before };
  const second = {
    ...slice,
    fromUs: middleUs,
    seen: slice.seen - matched,
    matched: slice.matched - matched,
    groups: after,
  };
  return [first, second];
}

const hasFrames = (group: FrameGroup): boolean => group.timeUs.length > 0;

const countFrames = (groups: readonly FrameGroup[]): number =>
  groups.reduce((sum, group) => sum + group.timeUs.length, 0);

/** A group's frames before `middleUs`, and those from it on; they ascend in time. */
function splitGroup(group: FrameGroup, middleUs: number): readonly [FrameGroup, FrameGroup] {
  const found = group.timeUs.findIndex((timeUs) => timeUs >= middleUs);
  const row = found === -1 ? group.timeUs.length : found;
  const byte = group.lengths.subarray(0, row).reduce((sum, length) => sum + length, 0);
  const part = (fromRow: number, untilRow: number, from: number, until: number): FrameGroup => ({
    ...group,
    timeUs: group.timeUs.slice(fromRow, untilRow),
    lengths: group.lengths.slice(fromRow, untilRow),
    payload: group.payload.slice(from, until),
  });
  const { length } = group.timeUs;
  return [part(0, row, 0, byte), part(row, length, byte, group.payload.length)];
}

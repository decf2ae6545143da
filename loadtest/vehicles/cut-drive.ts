import { TachographError } from '#kernel/core/errors.ts';
import type { DriveFrame } from './drive.ts';
import type { Selection } from './selection.ts';
import type { FrameGroup, FrameKind } from '#kernel/batch/batch.ts';

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
  frames: readonly DriveFrame[],
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
      groups: groupFrames(matched),
    };
  });
}

/**
 * Halves a slice in the middle of its time: what is before the middle, and what is from it on. For a
 * batch that is too large to upload. Only the second half carries the end mark.
 */
export function halveSlice(slice: DriveSlice): readonly [DriveSlice, DriveSlice] {
  const middleUs = Math.floor((slice.fromUs + slice.untilUs) / 2);
  const before = slice.groups.flatMap((group) => partOf(group, (timeUs) => timeUs < middleUs));
  const after = slice.groups.flatMap((group) => partOf(group, (timeUs) => timeUs >= middleUs));
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

const countFrames = (groups: readonly FrameGroup[]): number =>
  groups.reduce((sum, group) => sum + group.timeUs.length, 0);

function partOf(group: FrameGroup, isIn: (timeUs: number) => boolean): readonly FrameGroup[] {
  const rows = [...group.timeUs.keys()].filter((row) => isIn(group.timeUs[row] ?? 0));
  if (rows.length === 0) return [];
  const starts: number[] = [];
  let start = 0;
  for (const length of group.lengths) {
    starts.push(start);
    start += length;
  }
  return [
    packGroup(
      group,
      rows.map((row) => {
        const from = starts[row] ?? 0;
        const data = group.payload.subarray(from, from + (group.lengths[row] ?? 0));
        return { timeUs: group.timeUs[row] ?? 0, data };
      }),
    ),
  ];
}

/** Frames by (bus, id, kind), groups in the order of their first frames. */
function groupFrames(frames: readonly DriveFrame[]): readonly FrameGroup[] {
  const members = new Map<string, DriveFrame[]>();
  for (const frame of frames) {
    const key = `${frame.bus}/${frame.extended ? 'x' : 's'}${frame.id}/${frame.kind}`;
    const group = members.get(key);
    if (group === undefined) members.set(key, [frame]);
    else group.push(frame);
  }
  return [...members.values()].flatMap((group) => {
    const [head] = group;
    return head === undefined ? [] : [packGroup(head, group)];
  });
}

interface GroupKey {
  readonly bus: string;
  readonly id: number;
  readonly extended: boolean;
  readonly kind: FrameKind;
}

function packGroup(
  { bus, id, extended, kind }: GroupKey,
  rows: readonly { readonly timeUs: number; readonly data: Uint8Array }[],
): FrameGroup {
  const lengths = Uint8Array.from(rows, ({ data }) => data.length);
  const payload = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0));
  let at = 0;
  for (const { data } of rows) {
    payload.set(data, at);
    at += data.length;
  }
  const timeUs = Float64Array.from(rows, (row) => row.timeUs);
  return { bus, id, extended, kind, timeUs, lengths, payload };
}

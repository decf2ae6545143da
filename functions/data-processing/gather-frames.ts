import { must } from '#kernel/core/assert.ts';
import type { FrameGroup } from '#kernel/batch/batch.ts';
import { maxHoldUs, type WindowInput } from './window-input.ts';

/** All data frames of one (bus, id), ascending in time; equal times keep batch order, then recorded order. */
export interface FrameSeries {
  readonly bus: string;
  readonly id: number;
  readonly extended: boolean;
  readonly timeUs: Float64Array;
  /** Frame i is `lengths[i]` bytes of `payloads[i]` from `starts[i]` on. */
  readonly payloads: readonly Uint8Array[];
  readonly starts: Uint32Array;
  readonly lengths: Uint8Array;
  /** Rows from here on lie in the window's own span; those before are read back for resampling. */
  readonly ownFrom: number;
  /** Of the window's own rows: how many repeat an earlier one (same time and payload). */
  readonly duplicates: number;
}

export interface GatheredFrames {
  /** By bus (code units), then id, standard before extended. */
  readonly series: readonly FrameSeries[];
  /** Remote and error frames of the window's own span. */
  readonly noData: number;
  /** Own frames earlier than the frame recorded before them in their group. */
  readonly unsorted: number;
}

interface Part {
  readonly group: FrameGroup;
  readonly frames: number;
}

/** The frames of [fromUs - maxHold, untilUs) by (bus, id), whatever order the batches hold them in. */
export function gatherFrames(input: WindowInput): GatheredFrames {
  const span = { fromUs: input.fromUs - maxHoldUs(input), untilUs: input.untilUs };
  const keyed = new Map<string, Part[]>();
  let noData = 0;
  let unsorted = 0;
  for (const group of input.batches.flatMap((batch) => batch.groups)) {
    unsorted += countUnsorted(group, input);
    if (group.kind === 'remote' || group.kind === 'error') {
      noData += countWithin(group.timeUs, input);
      continue;
    }
    const frames = countWithin(group.timeUs, span);
    if (frames === 0) continue;
    const key = JSON.stringify([group.bus, group.id, group.extended]);
    const parts = keyed.get(key);
    if (parts === undefined) keyed.set(key, [{ group, frames }]);
    else parts.push({ group, frames });
  }
  const series = Array.from(keyed.values(), (parts) => inOrder(joined(parts, span), input.fromUs));
  return { series: series.sort(compareSeries), noData, unsorted };
}

interface Span {
  readonly fromUs: number;
  readonly untilUs: number;
}

function countWithin(timeUs: Float64Array, { fromUs, untilUs }: Span): number {
  let count = 0;
  for (const time of timeUs) if (time >= fromUs && time < untilUs) count += 1;
  return count;
}

function countUnsorted({ timeUs }: FrameGroup, { fromUs, untilUs }: Span): number {
  let count = 0;
  let previous = -Infinity;
  for (const time of timeUs) {
    if (time < previous && time >= fromUs && time < untilUs) count += 1;
    previous = time;
  }
  return count;
}

type Unordered = Pick<FrameSeries, 'bus' | 'id' | 'extended' | 'timeUs' | 'starts' | 'lengths'> & {
  readonly payloads: Uint8Array[];
};

/** The parts' frames within the span, one part after the other. */
function joined(parts: readonly Part[], { fromUs, untilUs }: Span): Unordered {
  const rows = parts.reduce((sum, part) => sum + part.frames, 0);
  const { bus, id, extended } = must(parts[0], 'a part of the series').group;
  const timeUs = new Float64Array(rows);
  const starts = new Uint32Array(rows);
  const lengths = new Uint8Array(rows);
  const payloads: Uint8Array[] = [];
  for (const { group } of parts) {
    let start = 0;
    for (let index = 0; index < group.timeUs.length; index++) {
      const time = must(group.timeUs[index], 'time of a frame');
      const length = must(group.lengths[index], 'length of a frame');
      if (time >= fromUs && time < untilUs) {
        timeUs[payloads.length] = time;
        starts[payloads.length] = start;
        lengths[payloads.length] = length;
        payloads.push(group.payload);
      }
      start += length;
    }
  }
  return { bus, id, extended, timeUs, starts, lengths, payloads };
}

function inOrder(frames: Unordered, fromUs: number): FrameSeries {
  const sorted = isAscending(frames.timeUs) ? frames : sortedByTime(frames);
  const firstOwn = sorted.timeUs.findIndex((time) => time >= fromUs);
  const ownFrom = firstOwn === -1 ? sorted.timeUs.length : firstOwn;
  return { ...sorted, ownFrom, duplicates: countDuplicates(sorted, ownFrom) };
}

function isAscending(timeUs: Float64Array): boolean {
  for (let row = 1; row < timeUs.length; row++) {
    if (must(timeUs[row], 'time') < must(timeUs[row - 1], 'time')) return false;
  }
  return true;
}

function sortedByTime(frames: Unordered): Unordered {
  const time = (row: number): number => must(frames.timeUs[row], 'time of a row');
  const order = Uint32Array.from(frames.timeUs, (_, row) => row);
  order.sort((a, b) => time(a) - time(b) || a - b);
  return {
    ...frames,
    timeUs: Float64Array.from(order, time),
    starts: Uint32Array.from(order, (row) => must(frames.starts[row], 'start of a row')),
    lengths: Uint8Array.from(order, (row) => must(frames.lengths[row], 'length of a row')),
    payloads: Array.from(order, (row) => must(frames.payloads[row], 'payload of a row')),
  };
}

/** Linear in the frames, also when a hostile batch gives all of them one time. */
function countDuplicates(frames: Unordered, ownFrom: number): number {
  let duplicates = 0;
  for (let first = ownFrom; first < frames.timeUs.length;) {
    let end = first + 1;
    while (end < frames.timeUs.length && frames.timeUs[end] === frames.timeUs[first]) end += 1;
    if (end > first + 1) {
      const seen = new Set<string>();
      for (let row = first; row < end; row++) seen.add(payloadKey(frames, row));
      duplicates += end - first - seen.size;
    }
    first = end;
  }
  return duplicates;
}

function payloadKey({ payloads, starts, lengths }: Unordered, row: number): string {
  const payload = must(payloads[row], 'payload of a row');
  const start = must(starts[row], 'start of a row');
  const bytes = payload.subarray(start, start + must(lengths[row], 'length of a row'));
  return String.fromCharCode(...bytes);
}

function compareSeries(a: FrameSeries, b: FrameSeries): number {
  if (a.bus !== b.bus) return a.bus < b.bus ? -1 : 1;
  return a.id - b.id || Number(a.extended) - Number(b.extended);
}

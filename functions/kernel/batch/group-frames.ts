import type { CanFrame } from '../canlog/can-frame.ts';
import type { FrameGroup } from './batch.ts';

interface Growing {
  readonly first: CanFrame;
  readonly times: number[];
  readonly frames: Uint8Array[];
}

/**
 * Frames in their recorded order as groups of one (bus, id, kind), in the order of their first
 * frames. `originUs` is the frame time at the session's monotonic zero: it is subtracted from every
 * time.
 */
export function groupFrames(frames: Iterable<CanFrame>, originUs: number): FrameGroup[] {
  const groups = new Map<string, Growing>();
  for (const frame of frames) {
    const key = `${frame.bus}/${frame.id}/${frame.extended}/${frame.kind}`;
    let group = groups.get(key);
    if (group === undefined) {
      group = { first: frame, times: [], frames: [] };
      groups.set(key, group);
    }
    group.times.push(frame.timeUs - originUs);
    group.frames.push(frame.data);
  }
  return Array.from(groups.values(), asGroup);
}

function asGroup({ first, times, frames }: Growing): FrameGroup {
  const lengths = Uint8Array.from(frames, (data) => data.length);
  const payload = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0));
  let start = 0;
  for (const data of frames) {
    payload.set(data, start);
    start += data.length;
  }
  const { bus, id, extended, kind } = first;
  return { bus, id, extended, kind, timeUs: Float64Array.from(times), lengths, payload };
}

import { TachographError } from '#kernel/core/errors.ts';
import { readCanLog } from '#kernel/canlog/read-can-log.ts';
import type { CanFrame } from '#kernel/canlog/can-frame.ts';
import type { CanLogFault } from '#kernel/canlog/can-log-reader.ts';

/** A recorded drive in memory: ascending in time from 0; frames of one time keep the log's order. */
export interface Drive {
  readonly frames: readonly CanFrame[];
  /** Lines of the log that could not be read, such as a torn last one; they are left out. */
  readonly faults: number;
  /** The first of them, with their lines. */
  readonly firstFaults: readonly CanLogFault[];
}

/** A log as collectDrive reads it: the faults are complete when the iteration has ended. */
export interface DriveLog extends AsyncIterable<CanFrame> {
  readonly faultCount?: number;
  readonly faults?: readonly CanLogFault[];
}

/** 5 million frames are about 50 minutes of two busy buses and about 1 GB of memory. */
export const MAX_DRIVE_FRAMES = 5_000_000;

/**
 * A drive from a log's frames: time counted from the earliest frame, frames sorted by time.
 *
 * A log may hold neighbours in the wrong order (recorders merge buses in bursts); a vehicle has one
 * monotonic clock, so its frames are put in the order of their times.
 *
 * Throws DRIVE_EMPTY and DRIVE_TOO_LONG.
 */
export async function collectDrive(
  log: DriveLog,
  path: string,
  maxFrames = MAX_DRIVE_FRAMES,
): Promise<Drive> {
  const frames: CanFrame[] = [];
  let firstUs = Number.POSITIVE_INFINITY;
  for await (const frame of log) {
    if (frames.length === maxFrames) {
      throw new TachographError('DRIVE_TOO_LONG', { path, max: maxFrames, what: 'frames' });
    }
    firstUs = Math.min(firstUs, frame.timeUs);
    frames.push(frame);
  }
  if (frames.length === 0) throw new TachographError('DRIVE_EMPTY', { path });
  const shifted = frames.map((frame) => ({ ...frame, timeUs: frame.timeUs - firstUs }));
  return {
    frames: shifted.sort((a, b) => a.timeUs - b.timeUs),
    faults: log.faultCount ?? 0,
    firstFaults: log.faults ?? [],
  };
}

/** Reads a candump log, plain or gzip. Throws DRIVE_UNREADABLE, DRIVE_EMPTY, DRIVE_TOO_LONG. */
export async function loadDrive(path: string): Promise<Drive> {
  try {
    return await collectDrive(readCanLog(path), path);
  } catch (error) {
    if (error instanceof TachographError) throw error;
    // Of the system (ENOENT …) or of gzip (Z_DATA_ERROR …).
    const detail = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new TachographError('DRIVE_UNREADABLE', { path, detail }, { cause: error });
  }
}

/** A batch in memory: what a vehicle recorded between two points of its monotonic time. */

export const BATCH_SCHEMA = 'tachograph.batch/1';

export type FrameKind = 'data' | 'fd' | 'remote' | 'error';

/** Frames of one (bus, id, kind), in the order the vehicle recorded them. */
export interface FrameGroup {
  readonly bus: string;
  /** 11 or 29 bits, without the flag bit. 0 for error frames. */
  readonly id: number;
  readonly extended: boolean;
  readonly kind: FrameKind;
  /** Monotonic µs since the session's start, one a frame; normally ascending, but not necessarily. */
  readonly timeUs: Float64Array;
  /** Bytes of each frame (0 for remote and error frames). */
  readonly lengths: Uint8Array;
  /** The frames' bytes one after another: frame i starts at the sum of the lengths before it. */
  readonly payload: Uint8Array;
}

export interface ClockPair {
  readonly monotonicUs: number;
  /** µs since 1970-01-01 UTC, as the vehicle believes. */
  readonly wallUs: number;
  readonly source: 'gnss' | 'ntp' | 'rtc' | 'none';
}

export interface FrameCounts {
  /** Frames on the vehicle's buses in [fromUs, untilUs). */
  readonly seen: number;
  /** Of these, the ones the campaign asks for. */
  readonly matched: number;
  /** Of these, the ones in this batch, as the vehicle counted them. */
  readonly recorded: number;
  /** Matched but not recorded, by reason (`bufferFull`, `rateLimit`, …). */
  readonly dropped: Readonly<Record<string, number>>;
}

export interface Batch {
  readonly vehicle: string;
  readonly session: string;
  /** 0, 1, 2 … within the session, without holes. */
  readonly seq: number;
  readonly campaign: string;
  readonly campaignVersion: number;
  /** The batch holds everything recorded in [fromUs, untilUs) of the session's monotonic time. */
  readonly fromUs: number;
  readonly untilUs: number;
  readonly clock: ClockPair;
  /** The session's last batch. */
  readonly end: boolean;
  /** Stands for a batch: no frames, a window of its own (number = `seq`), whatever times it gives. */
  readonly emulated?: true;
  readonly counts: FrameCounts;
  readonly groups: readonly FrameGroup[];
}

export const frameCount = (batch: Batch): number =>
  batch.groups.reduce((sum, group) => sum + group.timeUs.length, 0);

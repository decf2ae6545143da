import type { Outcome } from './vehicle.ts';

/**
 * What happened to one batch: a line of `events.ndjson`. Times are ms since the run's start, on the
 * load generator's one monotonic clock; null = did not happen.
 */
export interface BatchRecord {
  readonly vehicle: string;
  readonly session: string;
  readonly seq: number;
  /** Monotonic span of the vehicle's session it covers. */
  readonly fromUs: number;
  readonly untilUs: number;
  /** It stands for a batch, and is the window of its own number. */
  readonly emulated?: true;
  /** Frames in it, and bytes of its compressed body. */
  readonly frames: number;
  readonly bytes: number;
  /** When it was due: its last frame was recorded. */
  readonly intendedMs: number;
  /** When the generator had it ready: `readyMs - intendedMs` is the generator's own lateness. */
  readonly readyMs: number;
  /** First and last attempt. */
  readonly firstSentMs: number | null;
  readonly sentMs: number | null;
  readonly ackedMs: number | null;
  /** First arrival of `dataset.exported.v1` that names it: of its last window, or of its session. */
  readonly exportedMs: number | null;
  readonly attempts: number;
  readonly outcome: Outcome;
  /** It was answered as a duplicate: an earlier attempt had been stored and its answer was lost. */
  readonly duplicate: boolean;
  /** The cache was full: its frames were dropped, its account was sent. */
  readonly emptied: boolean;
  /** The last answer, where it was not a success. */
  readonly detail: string;
  /** Of its trace; null: it was not traced, or not sampled. Absent in records before tracing. */
  readonly traceId?: string | null;
}

/** What is known of a batch before its first attempt. */
export type CutBatch = Pick<
  BatchRecord,
  | 'vehicle'
  | 'session'
  | 'seq'
  | 'fromUs'
  | 'untilUs'
  | 'emulated'
  | 'frames'
  | 'bytes'
  | 'intendedMs'
  | 'readyMs'
  | 'traceId'
>;

/** The record of a batch that nobody has tried to send yet. */
export const unsentRecord = (cut: CutBatch): BatchRecord => ({
  ...cut,
  firstSentMs: null,
  sentMs: null,
  ackedMs: null,
  exportedMs: null,
  attempts: 0,
  outcome: 'unresolved',
  duplicate: false,
  emptied: false,
  detail: '',
});

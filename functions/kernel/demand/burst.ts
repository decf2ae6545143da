import { TachographError } from '../core/errors.ts';
import type { CpuClock } from './cpu-clock.ts';
import { REFERENCE_STEPS_PER_MS, type Kernel } from './wasm-kernel.ts';

/** What burns: a kernel, the thread's CPU clock, and what is known of the kernel's speed. */
export interface Engine {
  readonly kernel: Pick<Kernel, 'run'>;
  readonly clock: Pick<CpuClock, 'nowMs' | 'readMs'>;
  /** Steps a CPU-ms, corrected while it runs. It sizes pieces; a wrong one costs clock readings, not accuracy. */
  stepsPerMs: number;
  /** CPU time in the kernel that `stepsPerMs` rests on so far; 0 for the reference rate. */
  seenMs: number;
}

/** A fresh engine knows the reference rate alone; its first piece is short and finds out. */
export const newEngine = (engine: Pick<Engine, 'kernel' | 'clock'>): Engine => ({
  ...engine,
  stepsPerMs: REFERENCE_STEPS_PER_MS,
  seenMs: 0,
});

/** A stretch of burning without a pause. */
export interface Stretch {
  readonly steps: number;
  /** CPU time inside the kernel: the readings of the clock left out. */
  readonly kernelMs: number;
  /** The last reading of the CPU clock. */
  readonly endMs: number;
  readonly aborted: boolean;
}

/** The longest time between two looks at the abort. */
const MAX_PIECE_MS = 1;
/** 70 % of what is left: after an error of the rate of up to 40 % there is still something to correct. */
const PIECE_SHARE = 0.7;
/** What is left below it is burned in one piece: a clock reading costs about 1 µs. */
const LAST_PIECE_MS = 0.02;
/**
 * A fresh engine's first piece. Each next one is at most 8 times as long as all before it: 1 µs of
 * clock step makes a rate that rests on 2 µs wrong by half.
 */
const FIRST_PIECE_MS = 0.02;
const GROWTH = 8;
const STOP_BELOW_MS = 0.001;
/** A piece long enough that 1 µs of clock step is 1 % of it or less. */
const MIN_TUNING_MS = 0.1;
const TUNING_WEIGHT = 0.25;
/** A clock that passed its test moves with each reading; one that stands still would never let a burst end. */
const MAX_STALLS = 1000;
/** From 1/100 to 100 times the reference: a disturbed reading must not make a piece of minutes. */
const RATE_BOUNDS = [REFERENCE_STEPS_PER_MS / 100, REFERENCE_STEPS_PER_MS * 100] as const;

/**
 * Burns until the thread's CPU clock reads `untilMs`: in pieces of 70 % of what remains and of 1 ms
 * at most, a reading of the clock after each; the last 20 µs in one piece. The readings count as
 * consumed, so each piece is shorter by one.
 *
 * @throws TachographError CPU_CLOCK_UNUSABLE when the clock stands still meanwhile.
 */
export function burnCpuTime(engine: Engine, untilMs: number, isAborted: () => boolean): Stretch {
  const { clock } = engine;
  let now = clock.nowMs();
  let stalls = 0;
  let steps = 0;
  let kernelMs = 0;
  while (untilMs - now > Math.max(STOP_BELOW_MS, clock.readMs)) {
    if (isAborted()) return { steps, kernelMs, endMs: now, aborted: true };
    const pieceMs = nextPieceMs(untilMs - now, engine) - clock.readMs;
    const piece = Math.max(1, Math.round(pieceMs * engine.stepsPerMs));
    engine.kernel.run(piece);
    const after = clock.nowMs();
    const spentMs = Math.max(0, after - now - clock.readMs);
    tune(engine, piece, spentMs);
    steps += piece;
    kernelMs += spentMs;
    stalls = after > now ? 0 : stalls + 1;
    if (stalls === MAX_STALLS) {
      throw new TachographError('CPU_CLOCK_UNUSABLE', { faults: 'it stood still during a burst' });
    }
    now = after;
  }
  return { steps, kernelMs, endMs: now, aborted: false };
}

/** Burns `steps`, or less when the CPU clock reaches `untilMs` before: a pause, not an end. */
export function burnWork(
  engine: Engine,
  steps: number,
  untilMs: number,
  isAborted: () => boolean,
): Stretch {
  const { clock } = engine;
  let now = clock.nowMs();
  let left = steps;
  let kernelMs = 0;
  while (left > 0 && now < untilMs) {
    if (isAborted()) return { steps: steps - left, kernelMs, endMs: now, aborted: true };
    const maxSteps = Math.max(1, Math.round(maxPieceMs(engine) * engine.stepsPerMs));
    const piece = Math.min(left, maxSteps);
    engine.kernel.run(piece);
    const after = clock.nowMs();
    const spentMs = Math.max(0, after - now - clock.readMs);
    tune(engine, piece, spentMs);
    left -= piece;
    kernelMs += spentMs;
    now = after;
  }
  return { steps: steps - left, kernelMs, endMs: now, aborted: false };
}

const maxPieceMs = ({ seenMs }: Engine): number =>
  Math.min(MAX_PIECE_MS, Math.max(FIRST_PIECE_MS, GROWTH * seenMs));

const nextPieceMs = (leftMs: number, engine: Engine): number =>
  leftMs <= LAST_PIECE_MS ? leftMs : Math.min(leftMs * PIECE_SHARE, maxPieceMs(engine));

/** The mean rate of the first 0.1 ms, then a running mean over pieces of 0.1 ms and more. */
function tune(engine: Engine, steps: number, spentMs: number): void {
  const { seenMs } = engine;
  const settled = seenMs >= MIN_TUNING_MS;
  if (spentMs <= 0 || (settled && spentMs < MIN_TUNING_MS)) return;
  const weight = settled ? TUNING_WEIGHT : spentMs / (seenMs + spentMs);
  const [min, max] = RATE_BOUNDS;
  const rate = engine.stepsPerMs + weight * (steps / spentMs - engine.stepsPerMs);
  engine.stepsPerMs = Math.min(max, Math.max(min, rate));
  engine.seenMs += spentMs;
}

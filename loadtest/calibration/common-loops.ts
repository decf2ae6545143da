import { REFERENCE_STEPS_PER_MS } from '#kernel/demand/wasm-kernel.ts';

/** The three ways to burn for `ms` that the product does not use, to be compared with it. */
export interface LoopPorts {
  readonly run: (steps: number) => void;
  readonly wallMs: () => number;
  /** The thread's CPU clock as Node gives it, without anything that makes it exact. */
  readonly naiveCpuMs: () => number;
}

/** Pieces between two looks at a clock: 25 µs at the reference rate. */
const PIECE_STEPS = REFERENCE_STEPS_PER_MS / 40;
/** The kernel takes 32-bit counts. */
const MAX_STEPS = 2 ** 31 - 1;
/**
 * Pieces before a clock loop gives up on its clock: twenty times what the demand needs, and 100 ms for
 * a clock that moves by the scheduler's tick.
 */
const maxPieces = (ms: number): number => (ms + 100) * 40 * 20;

/** As many steps as calibration says that `ms` need; nothing is looked at while it runs. */
export function burnOpen({ run }: LoopPorts, ms: number, stepsPerMs: number): void {
  let steps = Math.round(ms * stepsPerMs);
  for (; steps > MAX_STEPS; steps -= MAX_STEPS) run(MAX_STEPS);
  run(steps);
}

/** Until the wall clock says so. */
export const burnWall = ({ run, wallMs }: LoopPorts, ms: number): void =>
  burnUntil(run, wallMs, ms);

/** Until the naive CPU clock says so. */
export const burnNaive = ({ run, naiveCpuMs }: LoopPorts, ms: number): void =>
  burnUntil(run, naiveCpuMs, ms);

function burnUntil(run: (steps: number) => void, nowMs: () => number, ms: number): void {
  const endMs = nowMs() + ms;
  for (let piece = 0; piece < maxPieces(ms) && nowMs() < endMs; piece++) run(PIECE_STEPS);
}

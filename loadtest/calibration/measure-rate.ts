import { REFERENCE_STEPS_PER_MS } from '#kernel/demand/wasm-kernel.ts';
import type { Piece } from './fit-rate.ts';

export const WARM_MS = 150;
export const PIECES = 100;

/** A fifth of a reference ms: the engine's second tier takes over after the first few calls. */
const WARM_STEPS = REFERENCE_STEPS_PER_MS / 5;
/** On a CPU at the reference rate. A faster one stops here, and so does a clock that stands still. */
const MAX_WARM_CALLS = WARM_MS * 5;
/** Readings that fix the size of a piece after the warm-up. */
const SIZING_CALLS = 20;

/** What burns and what tells the CPU time of the thread it burns on. */
export interface RateBench {
  readonly run: (steps: number) => void;
  readonly cpuMs: () => number;
}

/** Warms up for 150 ms of CPU, then times 100 pieces of about 1 ms. About a quarter of a second. */
export function measureRate({ run, cpuMs }: RateBench): readonly Piece[] {
  const startMs = cpuMs();
  for (let call = 0; call < MAX_WARM_CALLS && cpuMs() - startMs < WARM_MS; call++) run(WARM_STEPS);
  const sizingMs = cpuMs();
  for (let call = 0; call < SIZING_CALLS; call++) run(WARM_STEPS);
  const stepsPerMs = (SIZING_CALLS * WARM_STEPS) / (cpuMs() - sizingMs);
  // A clock that stood still gives Infinity: then the reference rate sizes the pieces.
  const rate = Number.isFinite(stepsPerMs) ? stepsPerMs : REFERENCE_STEPS_PER_MS;
  const steps = Math.min(Math.round(rate), 10 * REFERENCE_STEPS_PER_MS);
  const pieces: Piece[] = [];
  for (let piece = 0; piece < PIECES; piece++) {
    const beforeMs = cpuMs();
    run(steps);
    pieces.push({ steps, cpuMs: cpuMs() - beforeMs });
  }
  return pieces;
}

import { newEngine, type Engine } from '../burst.ts';

export interface FakeMachine {
  /** Real speed, steps a CPU-ms; a function of the pieces run so far. */
  readonly stepsPerMs: (piece: number) => number;
  readonly readMs: number;
  /** What the clock shows moves in steps of it. */
  readonly stepMs: number;
  /** Called after each piece. */
  readonly onPiece?: (piece: number) => void;
}

export interface FakeEngine {
  readonly engine: Engine;
  /** True CPU time consumed so far. */
  readonly cpuMs: () => number;
  /** CPU time that something else consumes on the thread. */
  readonly consume: (ms: number) => void;
  /** CPU time of each piece run. */
  readonly pieces: readonly number[];
}

export const EVEN: FakeMachine = { stepsPerMs: () => 800_000, readMs: 0.001, stepMs: 0.001 };

/** A kernel and a CPU clock in virtual time: a piece takes its steps over the speed, a reading its cost. */
export function fakeEngine(machine: FakeMachine): FakeEngine {
  let cpu = 0;
  const pieces: number[] = [];
  const engine = newEngine({
    kernel: {
      run: (steps) => {
        const ms = steps / machine.stepsPerMs(pieces.length);
        cpu += ms;
        pieces.push(ms);
        machine.onPiece?.(pieces.length);
      },
    },
    clock: {
      readMs: machine.readMs,
      nowMs: () => {
        cpu += machine.readMs;
        return Math.floor(cpu / machine.stepMs) * machine.stepMs;
      },
    },
  });
  return { engine, cpuMs: () => cpu, consume: (ms) => void (cpu += ms), pieces };
}

import { TachographError } from '../core/errors.ts';
import { systemClock } from '../system/system-clock.ts';
import { newEngine } from './burst.ts';
import { createBurner, type Burner } from './burner.ts';
import { cpuClockCandidates } from './cpu-clock-candidates.ts';
import { selectCpuClock, type ClockCandidate, type CpuClock } from './cpu-clock.ts';
import { openRunQueue, type RunQueue } from './run-queue.ts';
import { createKernel, type Kernel } from './wasm-kernel.ts';

/** This thread's burner, with its clock tested. */
export interface OpenBurner extends Burner {
  readonly kernel: Kernel;
  readonly clock: CpuClock;
  readonly runQueue: RunQueue;
  close(): void;
}

export interface BurnerOptions {
  readonly thread: 'main' | 'worker';
  /** `cpuTime` is asked: no burner without an exact clock. `work` needs the clock for its report only. */
  readonly needsClock: boolean;
}

/** Kernel steps between two readings of a clock's test: 2.5 µs, more than the finest clock's step. */
const SPIN_STEPS = 2000;

/**
 * Takes 5 ms of CPU time with a good clock, 60 ms for each one that fails.
 *
 * @throws TachographError CPU_CLOCK_UNUSABLE when `needsClock` and no clock passes.
 */
export async function openBurner({ thread, needsClock }: BurnerOptions): Promise<OpenBurner> {
  const kernel = createKernel();
  const bench = {
    wallMs: () => systemClock.monotonicMs(),
    spin: () => kernel.run(SPIN_STEPS),
  };
  const clock = await chooseClock(cpuClockCandidates(thread), bench, needsClock);
  const runQueue = openRunQueue(thread);
  const engine = newEngine({ kernel, clock });
  const mode = thread === 'main' ? 'inline' : 'worker';
  const burner = createBurner({ engine, runQueue, wallMs: bench.wallMs, mode });
  return {
    burn: burner.burn,
    burnInTurns: burner.burnInTurns,
    get stepsPerMs() {
      return burner.stepsPerMs;
    },
    kernel,
    clock,
    runQueue,
    close: () => runQueue.close(),
  };
}

async function chooseClock(
  candidates: readonly ClockCandidate[],
  bench: Parameters<typeof selectCpuClock>[1],
  needsClock: boolean,
): Promise<CpuClock> {
  try {
    return await selectCpuClock(candidates, bench);
  } catch (error) {
    const refused = error instanceof TachographError && error.code === 'CPU_CLOCK_UNUSABLE';
    if (needsClock || !refused) throw error;
    return UNTESTED_CLOCK;
  }
}

/** All threads together: wrong beside other threads, but `work` needs it for its report only. */
const UNTESTED_CLOCK: CpuClock = {
  kind: 'process',
  nowMs: () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
  stepUs: 1,
  readMs: 0.001,
};

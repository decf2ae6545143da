import { TachographError } from '../core/errors.ts';

/** How thread CPU time is read: see cpu-clock-candidates.ts. */
export type CpuClockKind = 'pair' | 'wasi' | 'process';

/** CPU time of the calling thread, tested. */
export interface CpuClock {
  readonly kind: CpuClockKind;
  /** CPU time consumed, ms with a fraction; the origin is arbitrary. */
  readonly nowMs: () => number;
  /** Median step between two readings that differ, µs. */
  readonly stepUs: number;
  /** CPU time of one reading, ms. */
  readonly readMs: number;
}

export interface ClockCandidate {
  readonly kind: CpuClockKind;
  /** A reading function in ms, or undefined where the runtime has no such clock. */
  readonly open: () => Promise<(() => number) | undefined>;
}

/** What the test measures a clock against. */
export interface ClockBench {
  /** Monotonic wall time, ms. */
  readonly wallMs: () => number;
  /** Some µs of CPU work. */
  readonly spin: () => void;
}

export type ClockFault = 'missing' | 'frozen' | 'coarse' | 'backward' | 'wrong';

/** A clock's test: its step and cost, or what is wrong with it. */
export type ClockTrial =
  | { readonly ok: true; readonly stepUs: number; readonly readMs: number }
  | { readonly ok: false; readonly fault: ClockFault; readonly detail: string };

/** A step above it would leave 5 % of a burst of 1 ms to chance. */
export const MAX_STEP_US = 50;
/** Several scheduler ticks (1 to 10 ms): a clock that moves by the tick shows it. */
const TRIAL_WALL_MS = 20;
/** A good clock has shown by then what it is; the rest of the 20 ms is not spent. */
const GOOD_WALL_MS = 5;
const GOOD_CHANGES = 200;
/** Reading the two clocks one after the other, and rounding. */
const TOLERANCE_MS = 0.2;
const TOLERANCE = 1.02;
/** Below this share of the wall time in each attempt, nothing but a wrong clock explains it. */
const MIN_SHARE = 0.01;
const ATTEMPTS = 3;

/**
 * The first candidate that passes its test. The kernel's behaviour that makes a clock exact is
 * promised nowhere, so every process and every worker tests before it relies on it.
 *
 * @throws TachographError CPU_CLOCK_UNUSABLE with the fault of each candidate.
 */
export async function selectCpuClock(
  candidates: readonly ClockCandidate[],
  bench: ClockBench,
): Promise<CpuClock> {
  const faults: string[] = [];
  for (const candidate of candidates) {
    const read = await candidate.open();
    const trial: ClockTrial =
      read === undefined
        ? { ok: false, fault: 'missing', detail: 'this runtime has none' }
        : tryClock(read, bench);
    if (trial.ok && read !== undefined) {
      return { kind: candidate.kind, nowMs: read, stepUs: trial.stepUs, readMs: trial.readMs };
    }
    if (!trial.ok) faults.push(`${candidate.kind}: ${trial.fault} (${trial.detail})`);
  }
  throw new TachographError('CPU_CLOCK_UNUSABLE', { faults: faults.join('; ') });
}

/** Tries up to three times, since one preemption at the wrong place must not refuse a good clock. */
export function tryClock(read: () => number, bench: ClockBench): ClockTrial {
  let trial = tryOnce(read, bench);
  for (let attempt = 1; attempt < ATTEMPTS && !trial.ok; attempt++) trial = tryOnce(read, bench);
  return trial;
}

function tryOnce(read: () => number, bench: ClockBench): ClockTrial {
  const steps: number[] = [];
  const startWall = bench.wallMs();
  const start = read();
  let last = start;
  let wall = 0;
  while (wall < TRIAL_WALL_MS && !(wall >= GOOD_WALL_MS && steps.length >= GOOD_CHANGES)) {
    bench.spin();
    const now = read();
    if (now < last) return fault('backward', `went back by ${micros(last - now)} µs`);
    if (now > last) steps.push(now - last);
    last = now;
    wall = bench.wallMs() - startWall;
  }
  const cpu = last - start;
  if (steps.length === 0) return fault('frozen', `did not move in ${wall.toFixed(1)} ms of work`);
  const stepUs = micros(median(steps));
  if (stepUs > MAX_STEP_US) return fault('coarse', `moves in steps of ${stepUs} µs`);
  if (cpu > wall * TOLERANCE + TOLERANCE_MS || cpu < wall * MIN_SHARE) {
    return fault('wrong', `counted ${cpu.toFixed(2)} ms in ${wall.toFixed(2)} ms of one thread`);
  }
  return { ok: true, ...measureReading(read) };
}

const fault = (kind: ClockFault, detail: string): ClockTrial => ({
  ok: false,
  fault: kind,
  detail,
});

const micros = (ms: number): number => Math.round(ms * 1e6) / 1000;

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? 0;
}

const COST_ROUNDS = 25;
const COST_READS = 20;

/** Cost and step of readings without work between them: medians, so that an interrupt does not count. */
function measureReading(read: () => number): { readMs: number; stepUs: number } {
  const rounds: number[] = [];
  const steps: number[] = [];
  for (let round = 0; round < COST_ROUNDS; round++) {
    const start = read();
    let last = start;
    for (let count = 0; count < COST_READS; count++) {
      const now = read();
      if (now > last) steps.push(now - last);
      last = now;
    }
    rounds.push((last - start) / COST_READS);
  }
  return { readMs: median(rounds), stepUs: micros(median(steps)) };
}

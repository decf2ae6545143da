import { burnCpuTime, burnWork, type Engine, type Stretch } from './burst.ts';
import type { BurstReport, Place } from './demand.ts';
import type { RunQueue } from './run-queue.ts';
import { REFERENCE_STEPS_PER_MS } from './wasm-kernel.ts';

/** One burst of CPU work. */
export type BurstRequest =
  | { readonly kind: 'cpuTime'; readonly place: Place; readonly ms: number }
  | {
      readonly kind: 'work';
      readonly place: Place;
      readonly ms: number;
      /** Steps a ms of the demand: the reference rate, or a rate such as this machine's own. */
      readonly stepsPerMs: number | 'reference';
    };

/** Burns on the calling thread. */
export interface Burner {
  /** In one go: for a worker, and for measurements. */
  readonly burn: (request: BurstRequest, isAborted: () => boolean) => BurstReport;
  /** With a turn of the event loop every 5 ms, in which an abort can arrive and a probe be answered. */
  readonly burnInTurns: (
    request: BurstRequest,
    isAborted: () => boolean,
    turn: () => Promise<void>,
  ) => Promise<BurstReport>;
  /** The kernel's speed as measured so far, steps a CPU-ms. */
  readonly stepsPerMs: number;
}

export interface BurnerParts {
  readonly engine: Engine;
  readonly runQueue: Pick<RunQueue, 'readyMs' | 'involuntarySwitches'>;
  readonly wallMs: () => number;
  readonly mode: BurstReport['mode'];
}

/** CPU time between two turns of the event loop. */
export const SLICE_MS = 5;
/**
 * A turn of the event loop costs CPU time too: 40 µs after a slice that filled the caches, 250 µs at
 * the 99th percentile. Up to here it counts as the burst's own; above it other handlers ran in it.
 */
const OWN_TURN_MS = 0.25;
/** The cost of a burst's own last readings is a running mean; 1/16 of each new one. */
const TAIL_WEIGHT = 1 / 16;
const COST_ROUNDS = 51;
/**
 * So long before the end a burst makes its last readings and a report once for practice: after 50 ms
 * in the kernel the first ones cost 50 µs, since their code has left the caches, and the next 5 µs.
 */
const REHEARSAL_MS = 0.2;

/** `burn` and `burnInTurns` over one engine; the cost of the readings around a burst is part of it. */
export function createBurner(parts: BurnerParts): Burner {
  const costs = measureCosts(parts);
  return {
    burn: (request, isAborted) => {
      const burst = new Burst(parts, costs, request);
      burst.advance(Number.POSITIVE_INFINITY, isAborted);
      return burst.report();
    },
    burnInTurns: async (request, isAborted, turn) => {
      const burst = new Burst(parts, costs, request);
      while (!burst.advance(SLICE_MS, isAborted)) {
        await turn();
        burst.resume();
      }
      return burst.report();
    },
    get stepsPerMs() {
      return parts.engine.stepsPerMs;
    },
  };
}

/** What a burst costs beside its burning, as seen lately. */
interface Costs {
  /** From the last look of the loop at the clock to the burst's own last reading. */
  tailMs: number;
  /** Before the burst's first reading and after its last one. */
  edgeMs: number;
}

/** The median of rounds without burning, each between two readings of the clock. */
function measureCosts(parts: BurnerParts): Costs {
  const { clock } = parts.engine;
  const costs = { tailMs: 0, edgeMs: 0 };
  const edges: number[] = [];
  for (let round = 0; round < COST_ROUNDS; round++) {
    const before = clock.nowMs();
    const { cpuMs } = new Burst(parts, costs, NOTHING).report();
    edges.push(clock.nowMs() - before - cpuMs - clock.readMs);
  }
  const edgeMs = edges.sort((a, b) => a - b)[COST_ROUNDS >> 1] ?? 0;
  return { ...costs, edgeMs: Math.max(0, edgeMs) };
}

const NOTHING: BurstRequest = { kind: 'cpuTime', place: 'before', ms: 0 };

/** The readings beside the CPU clock. */
interface Look {
  readonly wallMs: number;
  readonly readyMs: number | null;
  readonly switches: number;
}

const look = ({ wallMs, runQueue }: BurnerParts): Look => ({
  wallMs: wallMs(),
  readyMs: runQueue.readyMs(),
  switches: runQueue.involuntarySwitches(),
});

/** A burst in progress. */
class Burst {
  readonly #parts: BurnerParts;
  readonly #costs: Costs;
  readonly #request: BurstRequest;
  readonly #start: Look;
  /** Consumed up to `#markMs`, a reading of the CPU clock. */
  #consumedMs = 0;
  #markMs: number;
  #steps = 0;
  #kernelMs = 0;
  #aborted = false;

  constructor(parts: BurnerParts, costs: Costs, request: BurstRequest) {
    this.#markMs = parts.engine.clock.nowMs();
    this.#parts = parts;
    this.#costs = costs;
    this.#request = request;
    this.#start = look(parts);
  }

  /** Burns on for at most `sliceMs` of CPU time. Returns whether the burst is over. */
  advance(sliceMs: number, isAborted: () => boolean): boolean {
    const { engine } = this.#parts;
    const request = this.#request;
    const pauseMs = this.#markMs + sliceMs;
    if (request.kind === 'work') {
      const left = stepsOf(request) - this.#steps;
      const stretch = this.#add(burnWork(engine, left, pauseMs, isAborted));
      return stretch.aborted || stretch.steps === left;
    }
    const { tailMs, edgeMs } = this.#costs;
    const aimMs = this.#markMs + request.ms - this.#consumedMs - tailMs - edgeMs;
    if (aimMs > pauseMs) return this.#add(burnCpuTime(engine, pauseMs, isAborted)).aborted;
    const rehearsalMs = aimMs - REHEARSAL_MS;
    if (rehearsalMs > this.#markMs) {
      if (this.#add(burnCpuTime(engine, rehearsalMs, isAborted)).aborted) return true;
      this.#draft();
    }
    this.#add(burnCpuTime(engine, aimMs, isAborted));
    return true;
  }

  #add(stretch: Stretch): Stretch {
    this.#consumedMs += stretch.endMs - this.#markMs;
    this.#markMs = stretch.endMs;
    this.#steps += stretch.steps;
    this.#kernelMs += stretch.kernelMs;
    this.#aborted = stretch.aborted;
    return stretch;
  }

  /** Goes on after a turn of the event loop: what other handlers consumed in it is not the burst's. */
  resume(): void {
    const now = this.#parts.engine.clock.nowMs();
    this.#consumedMs += Math.min(now - this.#markMs, OWN_TURN_MS);
    this.#markMs = now;
  }

  /** The CPU clock is read last, after all else was made: what follows it nobody counts. */
  report(): BurstReport {
    const report = this.#draft();
    const tailMs = this.#parts.engine.clock.nowMs() - this.#markMs;
    this.#costs.tailMs += TAIL_WEIGHT * (tailMs - this.#costs.tailMs);
    report.cpuMs = this.#consumedMs + tailMs + this.#costs.edgeMs;
    if (report.readyMs !== null) report.restMs = report.wallMs - report.cpuMs - report.readyMs;
    return report;
  }

  #draft(): Draft {
    const start = this.#start;
    const end = look(this.#parts);
    return {
      kind: this.#request.kind,
      place: this.#request.place,
      nominal: this.#request.ms,
      mode: this.#parts.mode,
      steps: this.#steps,
      cpuMs: 0,
      wallMs: end.wallMs - start.wallMs,
      readyMs: end.readyMs === null || start.readyMs === null ? null : end.readyMs - start.readyMs,
      restMs: null,
      involuntarySwitches: end.switches - start.switches,
      rate: this.#kernelMs > 0 ? this.#steps / this.#kernelMs / REFERENCE_STEPS_PER_MS : null,
      queuedMs: 0,
      aborted: this.#aborted,
    };
  }
}

/** A report whose CPU time is still to come. */
type Draft = Omit<BurstReport, 'cpuMs' | 'restMs'> & { cpuMs: number; restMs: number | null };

function stepsOf(request: BurstRequest): number {
  if (request.kind === 'cpuTime') return 0;
  const rate = request.stepsPerMs === 'reference' ? REFERENCE_STEPS_PER_MS : request.stepsPerMs;
  return Math.round(request.ms * rate);
}

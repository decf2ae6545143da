import { unreachable } from '../core/assert.ts';
import type { Clock } from '../core/clock.ts';
import { TachographError } from '../core/errors.ts';
import type { Random } from '../core/random.ts';
import type { BurstReport, Demand, Place } from './demand.ts';
import { MAX_BURST_MS, MAX_INLINE_QUEUE, MAX_MEMORY_BYTES } from './demand-limits.ts';
import { drawAmount } from './draw-amount.ts';
import { formatDemand } from './format-demand.ts';
import type { RunnerMachine } from './runner-machine.ts';
import { createPayloadNoise } from './payload-noise.ts';
import { sleepUnlessAborted } from './sleep-unless-aborted.ts';

/** On the event loop's thread, or on worker threads of their own, so that probes are answered meanwhile. */
export type Placement = 'inline' | { readonly workers: number; readonly maxQueue: number };

export interface RunnerOptions {
  readonly placement: Placement;
  /** The stream that amounts are drawn from. */
  readonly random: Random;
  readonly clock: Clock;
  /** This machine's steps a CPU-ms, from its calibration: needed by `work` with `rate=local` only. */
  readonly localRate?: number | undefined;
}

/** Executes a stage's demands. */
export interface DemandRunner {
  /** Whether anything is asked at this place. */
  has(place: Place): boolean;
  /**
   * Executes the place's demands one after the other. An abort ends the burst in progress within a
   * few ms of its CPU time: its report says `aborted`, the demands behind it are left out, and
   * nothing is thrown. `key` (the fact's id) decides the payload's size.
   *
   * @throws TachographError DEMAND_QUEUE_FULL (retry) when too many bursts wait already.
   */
  run(place: Place, signal: AbortSignal, key?: string): Promise<readonly BurstReport[]>;
  /** Noise for the fact `key`: the same bytes for the same key, in every process. Empty without a payload demand. */
  payloadBytes(place: Place, key: string): Uint8Array;
  /** Bursts that wait for a free burner now. */
  readonly queueLength: number;
  close(): Promise<void>;
}

/**
 * A runner without demands costs nothing; the burner is loaded when a demand needs it.
 *
 * @throws TachographError CPU_CLOCK_UNUSABLE when `cpuTime` is asked and no clock passes its test;
 *   DEMAND_RATE_UNKNOWN when `rate=local` is asked without a calibration.
 */
export async function createDemandRunner(
  demands: readonly Demand[],
  options: RunnerOptions,
): Promise<DemandRunner> {
  for (const demand of demands) stepsPerMs(demand, options.localRate);
  const machine = await openMachine(demands, options);
  const noise = createPayloadNoise(demands);
  const runOne = (demand: Demand, key: string, signal: AbortSignal) =>
    runDemand(demand, { options, machine, payloadSize: noise.sizeOf }, key, signal);
  return {
    has: (place) => demands.some((demand) => demand.place === place),
    run: async (place, signal, key = '') => {
      const reports: BurstReport[] = [];
      for (const demand of demands) {
        if (demand.place !== place) continue;
        if (signal.aborted) break;
        const report = await runOne(demand, key, signal);
        if (report !== undefined) reports.push(report);
      }
      return reports;
    },
    payloadBytes: noise.bytesFor,
    get queueLength() {
      return machine?.queue.length ?? 0;
    },
    close: async () => machine?.close(),
  };
}

/** Undefined where no demand burns CPU or touches memory. */
async function openMachine(
  demands: readonly Demand[],
  { placement, clock }: RunnerOptions,
): Promise<RunnerMachine | undefined> {
  const kinds = new Set(demands.map(({ kind }) => kind));
  if (!kinds.has('cpuTime') && !kinds.has('work') && !kinds.has('memory')) return undefined;
  const { openRunnerMachine } = await import('./runner-machine.ts');
  return openRunnerMachine({
    workers: placement === 'inline' ? 0 : placement.workers,
    maxQueue: placement === 'inline' ? MAX_INLINE_QUEUE : placement.maxQueue,
    needsClock: kinds.has('cpuTime'),
    clock,
  });
}

interface Means {
  readonly options: RunnerOptions;
  readonly machine: RunnerMachine | undefined;
  readonly payloadSize: ReturnType<typeof createPayloadNoise>['sizeOf'];
}

/** Undefined when an abort came before the burst began. */
async function runDemand(
  demand: Demand,
  { options, machine, payloadSize }: Means,
  key: string,
  signal: AbortSignal,
): Promise<BurstReport | undefined> {
  const { random, clock, localRate } = options;
  const { place } = demand;
  switch (demand.kind) {
    case 'cpuTime':
    case 'work': {
      const ms = Math.min(MAX_BURST_MS, drawAmount(demand.ms, random));
      const burst =
        demand.kind === 'work'
          ? { kind: demand.kind, place, ms, stepsPerMs: stepsPerMs(demand, localRate) }
          : { kind: demand.kind, place, ms };
      return machine?.queue.run(burst, signal);
    }
    case 'memory': {
      const bytes = Math.min(MAX_MEMORY_BYTES, Math.round(drawAmount(demand.bytes, random)));
      return machine?.hold({ place, bytes, holdMs: demand.holdMs }, signal);
    }
    case 'delay': {
      const ms = Math.min(MAX_BURST_MS, drawAmount(demand.ms, random));
      return delay(place, ms, clock, signal);
    }
    case 'payload':
      return idleReport('payload', place, payloadSize(demand, key), 0, false);
    default:
      return unreachable(demand);
  }
}

async function delay(
  place: Place,
  ms: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<BurstReport> {
  const startMs = clock.monotonicMs();
  const outcome = await sleepUnlessAborted(clock, ms, signal);
  return idleReport('delay', place, ms, clock.monotonicMs() - startMs, outcome === 'aborted');
}

/** Of a demand that takes no CPU time: there is no thread to wait for, so its parts are not split. */
const idleReport = (
  kind: 'delay' | 'payload',
  place: Place,
  nominal: number,
  wallMs: number,
  aborted: boolean,
): BurstReport => ({
  kind,
  place,
  nominal,
  mode: 'inline',
  steps: 0,
  cpuMs: 0,
  wallMs,
  readyMs: null,
  restMs: null,
  involuntarySwitches: 0,
  rate: null,
  queuedMs: 0,
  aborted,
});

function stepsPerMs(demand: Demand, localRate: number | undefined): number | 'reference' {
  if (demand.kind !== 'work' || demand.rate === 'reference') return 'reference';
  if (localRate !== undefined) return localRate;
  throw new TachographError('DEMAND_RATE_UNKNOWN', { demand: formatDemand(demand) });
}

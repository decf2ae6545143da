import { assert } from '../core/assert.ts';
import type { Clock } from '../core/clock.ts';
import { TachographError } from '../core/errors.ts';
import type { BurstReport, Place } from './demand.ts';
import { sleepUnlessAborted } from './sleep-unless-aborted.ts';

export interface MemoryRequest {
  readonly place: Place;
  readonly bytes: number;
  readonly holdMs: number;
}

export interface MemoryParts {
  readonly clock: Clock;
  /** The thread's CPU clock, ms. */
  readonly cpuMs: () => number;
  readonly turn: () => Promise<void>;
  readonly allocate: (bytes: number) => Uint8Array;
}

/** A page that was never written to occupies nothing. */
const PAGE_BYTES = 4096;
/** A first touch costs 1.6 to 1.9 µs a page: some 2 ms between two turns of the event loop. */
const PAGES_A_TURN = 1024;

/**
 * Takes memory, touches each page of it, holds it for a time. The CPU time of the touching is
 * reported: 128 MiB are some 50 ms of it.
 *
 * @throws TachographError DEMAND_MEMORY_SHORT (retry) when there is none.
 */
export async function holdMemory(
  { place, bytes, holdMs }: MemoryRequest,
  { clock, cpuMs, turn, allocate }: MemoryParts,
  signal: AbortSignal,
): Promise<BurstReport> {
  const startMs = clock.monotonicMs();
  let spentMs = 0;
  let markMs = cpuMs();
  const held = allocateOrRefuse(bytes, allocate);
  for (let offset = 0; offset < bytes && !signal.aborted; offset += PAGES_A_TURN * PAGE_BYTES) {
    touchPages(held, offset, Math.min(bytes, offset + PAGES_A_TURN * PAGE_BYTES));
    spentMs += cpuMs() - markMs;
    await turn();
    markMs = cpuMs();
  }
  const aborted = signal.aborted || (await sleepUnlessAborted(clock, holdMs, signal)) === 'aborted';
  // To look at it afterwards keeps the collector from it meanwhile.
  assert(held.length === bytes && (bytes === 0 || aborted || held[0] === 1), 'memory was held');
  return {
    kind: 'memory',
    place,
    nominal: bytes,
    mode: 'inline',
    steps: 0,
    cpuMs: spentMs,
    wallMs: clock.monotonicMs() - startMs,
    readyMs: null,
    restMs: null,
    involuntarySwitches: 0,
    rate: null,
    queuedMs: 0,
    aborted,
  };
}

function touchPages(held: Uint8Array, from: number, to: number): void {
  for (let offset = from; offset < to; offset += PAGE_BYTES) held[offset] = 1;
}

function allocateOrRefuse(bytes: number, allocate: (bytes: number) => Uint8Array): Uint8Array {
  try {
    return allocate(bytes);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new TachographError('DEMAND_MEMORY_SHORT', { bytes }, { cause: error });
  }
}

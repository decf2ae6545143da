import type { Clock } from '../core/clock.ts';
import { nextTurn } from '../system/next-turn.ts';
import type { BurstReport } from './demand.ts';
import { BurstQueue, type BurstServer } from './burst-queue.ts';
import { holdMemory, type MemoryRequest } from './hold-memory.ts';
import { openBurner, type OpenBurner } from './open-burner.ts';
import { openWorkerServers } from './worker-pool.ts';

/** What a runner needs as soon as a demand takes CPU time: loaded then and not before. */
export interface RunnerMachine {
  readonly queue: BurstQueue;
  hold(request: MemoryRequest, signal: AbortSignal): Promise<BurstReport>;
  close(): Promise<void>;
}

export interface MachineOptions {
  /** 0: the calling thread burns. */
  readonly workers: number;
  readonly maxQueue: number;
  readonly needsClock: boolean;
  readonly clock: Clock;
}

export async function openRunnerMachine(options: MachineOptions): Promise<RunnerMachine> {
  const { workers, maxQueue, needsClock, clock } = options;
  const burner = await openBurner({ thread: 'main', needsClock: needsClock && workers === 0 });
  const servers =
    workers === 0 ? [inlineServer(burner)] : await openWorkerServers(workers, needsClock);
  const queue = new BurstQueue(servers, maxQueue, () => clock.monotonicMs());
  const memory = {
    clock,
    cpuMs: () => burner.clock.nowMs(),
    turn: nextTurn,
    allocate: (bytes: number) => new Uint8Array(bytes),
  };
  return {
    queue,
    hold: (request, signal) => holdMemory(request, memory, signal),
    close: async () => {
      await queue.close();
      burner.close();
    },
  };
}

/** The calling thread as the only server: while it burns, handlers get a turn every 5 ms. */
const inlineServer = (burner: OpenBurner): BurstServer => ({
  burn: (request, signal) => burner.burnInTurns(request, () => signal.aborted, nextTurn),
  close: () => Promise.resolve(),
});

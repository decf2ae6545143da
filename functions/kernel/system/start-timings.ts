import { performance } from 'node:perf_hooks';
import type { StartTimings } from '../core/listening-message.ts';

/** Monotonic time of the system clock, whose origin is the process's begin, as epoch ms with a fraction. */
export const epochMs = (monotonicMs: number): number => performance.timeOrigin + monotonicMs;

/**
 * The moments of this process's start; `loadedMs` and `listeningMs` are the system clock's monotonic
 * time. Node keeps those of its own boot, so that nothing has to run early to take them.
 */
export const startTimings = (loadedMs: number, listeningMs: number): StartTimings => ({
  originMs: epochMs(0),
  bootedMs: epochMs(performance.nodeTiming.bootstrapComplete),
  loadedMs: epochMs(loadedMs),
  listeningMs: epochMs(listeningMs),
});

import process from 'node:process';
import { setImmediate } from 'node:timers/promises';
import { createKernel, REFERENCE_STEPS_PER_MS } from '#kernel/demand/wasm-kernel.ts';
import { systemClock } from '#kernel/system/system-clock.ts';

/**
 * A neighbour that never sleeps: `busy-loop.main.ts MAX_MS`. A turn of the event loop every 5 ms of work
 * lets it hear that its parent is gone.
 */
const maxMs = Number(process.argv[2]);
const kernel = createKernel();
const endMs = systemClock.monotonicMs() + maxMs;
process.once('disconnect', () => process.exit(0));
process.send?.('running');
// Not <=, so that a limit that is no number ends it at once.
while (systemClock.monotonicMs() < endMs) {
  kernel.run(5 * REFERENCE_STEPS_PER_MS);
  await setImmediate();
}
process.exit(0);

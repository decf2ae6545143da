import { writeFileSync } from 'node:fs';
import process from 'node:process';
import { createKernel, REFERENCE_STEPS_PER_MS } from '#kernel/demand/wasm-kernel.ts';
import { systemClock } from '#kernel/system/system-clock.ts';

/**
 * A neighbour that consumes some of a CPU: `neighbour.main.ts MILLICORES MAX_MS [JOIN_FILE]`. It burns
 * about 5 ms, then sleeps until its share is right; it ends when its parent does, or after MAX_MS.
 */
const [millicores = 0, maxMs = 0] = process.argv.slice(2, 4).map(Number);
const joinFile = process.argv[4];
if (joinFile !== undefined) writeFileSync(joinFile, String(process.pid));
const kernel = createKernel();
const startMs = systemClock.monotonicMs();
process.once('disconnect', () => process.exit(0));
process.send?.('running');
let { user, system } = process.cpuUsage();
// Not >=, so that a limit that is no number ends it at once.
while (systemClock.monotonicMs() - startMs < maxMs) {
  kernel.run(5 * REFERENCE_STEPS_PER_MS);
  const now = process.cpuUsage();
  const burnedMs = (now.user + now.system - user - system) / 1_000;
  ({ user, system } = now);
  await systemClock.sleep(Math.max(1, (burnedMs * (1_000 - millicores)) / millicores));
}
process.exit(0);

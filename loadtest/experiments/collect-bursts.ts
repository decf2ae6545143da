import type { Clock } from '#kernel/core/clock.ts';
import type { BurstCollector } from './burst-collector.ts';

/**
 * A stage keeps 20,000 rows, which is 20 s of a very busy one; a replica that is removed takes what was
 * not read with it.
 */
const COLLECT_EVERY_MS = 1_000;

/** Never rejects: a reading that failed is made up for by the next one, and the last one is not here. */
export async function collectBursts(
  collector: BurstCollector,
  { clock, onNote }: { readonly clock: Clock; readonly onNote: (line: string) => void },
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await collector.poll().catch((error: unknown) => {
      onNote(`Bursts could not be read; the next reading makes up for it: ${String(error)}`);
    });
    // Ends by the signal alone.
    await clock.sleep(COLLECT_EVERY_MS, signal).catch(() => undefined);
  }
}

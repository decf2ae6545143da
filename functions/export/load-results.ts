import { TachographError } from '#kernel/core/errors.ts';
import { windowId } from '#kernel/core/ids.ts';
import type { ResultFact, WindowFact } from '#kernel/facts/facts.ts';
import { readNewest } from '#kernel/store/read-prefix.ts';
import type { Store } from '#kernel/store/store.ts';

/** Compressed samples of a session in memory: at 0.7 bytes each, 380 million samples. */
const MAX_BLOCK_BYTES = 268_435_456;

/**
 * The results of all planned windows, in their order, or undefined when one is not there yet. The last
 * windows are asked for first: while a session is being finished those are the missing ones, and the
 * answer costs one look-up. A window processed by several versions gives its highest id.
 * Throws SESSION_TOO_LARGE.
 */
export async function loadResults(
  store: Store,
  plan: readonly WindowFact[],
  maxBlockBytes = MAX_BLOCK_BYTES,
): Promise<readonly ResultFact[] | undefined> {
  const results: ResultFact[] = [];
  let bytes = 0;
  for (const { vehicle, session, window, revision } of plan.toReversed()) {
    const prefix = `${windowId(vehicle, session, window, revision)}/`;
    const found = await readNewest<ResultFact>(store, 'results', prefix);
    if (found === undefined) return undefined;
    bytes += found.document.recorded.length + found.document.raster.length;
    if (bytes > maxBlockBytes) {
      const fields = { session, what: 'bytes of results', value: bytes, max: maxBlockBytes };
      throw new TachographError('SESSION_TOO_LARGE', fields);
    }
    results.push(found.document);
  }
  return results.reverse();
}

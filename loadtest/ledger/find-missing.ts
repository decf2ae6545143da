import type { BatchRecord } from '#loadtest/vehicles/batch-record.ts';
import { sessionKey, windowKey } from './fact-index.ts';
import type { FactIndex } from './fact-index.ts';
import { isExported, parkedWindows } from './window-account.ts';

/** Batches named in words before the rest is only counted. */
const MAX_NAMED = 5;

/**
 * Missing data: batches without a verdict that the store does not have, and acknowledged batches that
 * are neither in an exported window nor in a parked one. A batch in several windows needs all of them.
 */
export function findMissing(
  sent: ReadonlyMap<string, BatchRecord>,
  index: FactIndex,
): { readonly batches: number; readonly problems: readonly string[] } {
  const parked = parkedWindows(index);
  const windowsOf = new Map<string, string[]>();
  for (const window of index.windows.values()) {
    for (const seq of window.ownSeqs) {
      const key = `${sessionKey(window)}/${seq}`;
      windowsOf.set(key, [...(windowsOf.get(key) ?? []), windowKey(window)]);
    }
  }
  const unresolved: string[] = [];
  const lost: string[] = [];
  const notOut: string[] = [];
  for (const [key, { outcome }] of sent) {
    if (!index.batches.has(key)) {
      if (outcome === 'unresolved') unresolved.push(key);
      if (outcome === 'stored') lost.push(key);
      continue;
    }
    const windows = windowsOf.get(key) ?? [];
    const isOut = (window: string): boolean => isExported(index, window) || parked.has(window);
    if (windows.length === 0 || !windows.every(isOut)) notOut.push(key);
  }
  const problems = [
    inWords(unresolved, 'without a verdict and not in the store'),
    inWords(lost, 'acknowledged but not in the store'),
    inWords(notOut, 'stored but neither exported nor parked'),
  ].filter((problem) => problem !== undefined);
  return { batches: unresolved.length + lost.length + notOut.length, problems };
}

function inWords(keys: readonly string[], what: string): string | undefined {
  if (keys.length === 0) return undefined;
  const named = keys.slice(0, MAX_NAMED).join(', ');
  const rest = keys.length > MAX_NAMED ? ` and ${keys.length - MAX_NAMED} more` : '';
  return `missing: ${keys.length} batches ${what}: ${named}${rest}`;
}

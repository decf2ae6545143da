import type { WindowAccount } from './account.ts';
import { revisionKey, windowKey } from './fact-index.ts';
import type { FactIndex } from './fact-index.ts';

/**
 * Windows by the newest revision. A result, part or parked event of a window that was never closed
 * counts as well, so an invented one unbalances the account. An older revision's result does not
 * count: the window is pending until the newest one is processed.
 */
export function windowAccount(index: FactIndex): WindowAccount {
  const newest = [...index.windows.values()];
  const isNewest = (key: string, revision: number): boolean =>
    (index.windows.get(key)?.revision ?? revision) === revision;
  const windowsOf = (
    cards: Iterable<{ vehicle: string; session: string; window: number; revision: number }>,
  ): ReadonlySet<string> =>
    new Set(
      [...cards]
        .filter((card) => isNewest(windowKey(card), card.revision))
        .map((card) => windowKey(card)),
    );
  const processed = windowsOf(index.results.values());
  const parts = [...index.parts.values()].flatMap((part) =>
    part.window === null ? [] : [{ ...part, window: part.window }],
  );
  const exported = windowsOf(parts);
  const parked = [...parkedWindows(index)].filter((key) => !processed.has(key));
  const isPending = (key: string): boolean => !processed.has(key) && !parked.includes(key);
  return {
    closed: newest.length,
    processed: processed.size,
    parked: parked.length,
    pendingProcessing: newest.filter((window) => isPending(windowKey(window))).length,
    exported: exported.size,
    exportedWithSession: windowsOf(parts.filter(({ withSession }) => withSession)).size,
    pendingExport: [...processed].filter((key) => !exported.has(key)).length,
  };
}

/** Windows whose newest revision has a parked event, at whichever stage. */
export function parkedWindows(index: FactIndex): ReadonlySet<string> {
  return new Set(
    index.parked.flatMap(({ vehicle, session, window, revision }) => {
      if (session === null || window === null || revision === null) return [];
      const newest = index.windows.get(windowKey({ vehicle, session, window }));
      const isNewest = newest === undefined || newest.revision === revision;
      return isNewest ? [windowKey({ vehicle, session, window })] : [];
    }),
  );
}

/** The newest revision of a window has a result, and it says what became of the window's frames. */
export const isComputed = (index: FactIndex, key: string): boolean => {
  const window = index.windows.get(key);
  const result = window === undefined ? undefined : index.results.get(revisionKey(window));
  return result !== undefined && result.emulated !== true;
};

/** The newest revision of a window has its part. */
export const isExported = (index: FactIndex, key: string): boolean => {
  const window = index.windows.get(key);
  return window !== undefined && index.parts.has(revisionKey(window));
};

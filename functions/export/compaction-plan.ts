import type { SessionFact, WindowFact } from '#kernel/facts/facts.ts';

export interface WindowRevision {
  readonly window: number;
  readonly revision: number;
}

/**
 * The windows a closed session is compacted from, ascending, or undefined while a window has a newer
 * revision than the session names: its late data closes the session again, one revision up, and that
 * one is compacted. So a session's revision alone says what its files hold.
 */
export function compactionPlan(
  session: SessionFact,
  windows: Iterable<WindowFact>,
): readonly WindowFact[] | undefined {
  const newest = new Map<number, WindowFact>();
  for (const fact of windows) {
    if ((newest.get(fact.window)?.revision ?? 0) < fact.revision) newest.set(fact.window, fact);
  }
  const plan: WindowFact[] = [];
  for (const { window, revision } of session.windows) {
    const fact = newest.get(window);
    if (fact?.revision !== revision) return undefined;
    plan.push(fact);
  }
  return plan;
}

/** Whether a session's closing holds this revision of the window, or a newer one that replaced it. */
export const covers = (session: SessionFact, { window, revision }: WindowRevision): boolean =>
  session.windows.some((listed) => listed.window === window && listed.revision >= revision);

import { stillMissing, type ExportTracker, type SessionProgress } from './export-tracker.ts';
import type { Clock } from '#kernel/core/clock.ts';

export interface ExportWait {
  readonly tracker: ExportTracker;
  /** Whether every batch has its verdict and none is to come. */
  readonly areSendersDone: () => boolean;
  /** Gives up after so long without a batch cut, settled or exported. */
  readonly stallMs: number;
  /** How long sending takes, and how long after that is waited at most. */
  readonly sendingMs: number;
  readonly drainMs: number;
  readonly onProgress: (progress: readonly SessionProgress[]) => void;
  readonly progressEveryMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** How often it is looked whether everything came out. */
const POLL_MS = 50;

/** Resolves when all is out (undefined), or when a limit is reached (what was, in words). */
export async function waitForExports(wait: ExportWait): Promise<string | undefined> {
  const { tracker, clock, signal, stallMs, sendingMs, drainMs } = wait;
  const startMs = clock.monotonicMs();
  let movedMs = startMs;
  let shownMs = startMs;
  let last = '';
  for (;;) {
    const progress = tracker.progress();
    const nowMs = clock.monotonicMs();
    const state = JSON.stringify(progress);
    if (state !== last) movedMs = nowMs;
    last = state;
    const isDone = wait.areSendersDone() && stillMissing(progress).length === 0;
    if (isDone || nowMs - shownMs >= wait.progressEveryMs) {
      wait.onProgress(progress);
      shownMs = nowMs;
    }
    if (isDone) return undefined;
    if (nowMs - movedMs >= stallMs) return `nothing moved for ${Math.round(stallMs / 1000)} s`;
    if (nowMs - startMs >= sendingMs + drainMs) {
      return `not everything was out ${drainMs / 1000} s after the last batch was due`;
    }
    if (signal.aborted) return 'the run was stopped';
    await clock.sleep(POLL_MS);
  }
}

import type { HopWait } from '#eventing/dispatch/hop-notes.ts';
import type { ColdStartPart, Phase, PhaseMark } from '#kernel/core/phases.ts';

/** Moments of a replica's start; monotonic ms of the cluster's process. */
export interface ReplicaStart {
  readonly replica: string;
  readonly decidedMs: number;
  readonly spawnedMs: number;
  /** null: the process did not say. */
  readonly bootedMs: number | null;
  readonly loadedMs: number | null;
  readonly listeningMs: number;
  readonly readyMs: number;
}

/** A stretch of a phase; monotonic ms. */
export interface PhaseStretch {
  readonly phase: Phase;
  readonly fromMs: number;
  readonly untilMs: number;
}

/**
 * What a request waited for before its process had it: `coldStart` while the replica that then served it
 * was starting, from the decision until the pool knew that it was ready; `activator` for the rest of the
 * wait there; `queue` in the replica's queue-proxy.
 *
 * A wait from 0 to 100 for a replica that was decided at 10 and ready at 95: activator 0 to 10, coldStart
 * 10 to 95, activator 95 to 100.
 */
export function waitStretches(
  waits: readonly HopWait[],
  start: ReplicaStart | undefined,
): readonly PhaseStretch[] {
  return waits.flatMap(({ waitFor, fromMs, untilMs }): readonly PhaseStretch[] => {
    if (waitFor === 'queue' || start === undefined) return [{ phase: waitFor, fromMs, untilMs }];
    const coldFromMs = Math.max(fromMs, start.decidedMs);
    const coldUntilMs = Math.min(untilMs, start.readyMs);
    if (coldUntilMs <= coldFromMs) return [{ phase: waitFor, fromMs, untilMs }];
    const stretches: PhaseStretch[] = [
      { phase: 'activator', fromMs, untilMs: coldFromMs },
      { phase: 'coldStart', fromMs: coldFromMs, untilMs: coldUntilMs },
      { phase: 'activator', fromMs: coldUntilMs, untilMs },
    ];
    return stretches.filter((one) => one.untilMs > one.fromMs);
  });
}

/**
 * The parts of a start as marks, µs since `zeroMs`, as far as they lie within the cold stretches: a
 * request that came in the middle of a start waited for the rest of it only.
 */
export function startParts(
  start: ReplicaStart,
  cold: readonly PhaseStretch[],
  zeroMs: number,
): readonly PhaseMark<ColdStartPart>[] {
  const { decidedMs, spawnedMs, listeningMs, readyMs } = start;
  const bootedMs = start.bootedMs ?? spawnedMs;
  const loadedMs = start.loadedMs ?? bootedMs;
  const parts: readonly (readonly [ColdStartPart, number, number])[] = [
    ['wait', decidedMs, spawnedMs],
    ['boot', spawnedMs, bootedMs],
    ['load', bootedMs, loadedMs],
    ['listen', loadedMs, listeningMs],
    ['notice', listeningMs, readyMs],
  ];
  return cold.flatMap(({ fromMs, untilMs }) =>
    parts.flatMap(([phase, partFromMs, partUntilMs]) => {
      const fromUs = Math.round((Math.max(fromMs, partFromMs) - zeroMs) * 1_000);
      const lengthUs = Math.round((Math.min(untilMs, partUntilMs) - zeroMs) * 1_000) - fromUs;
      return lengthUs > 0 ? [{ phase, fromUs, lengthUs }] : [];
    }),
  );
}

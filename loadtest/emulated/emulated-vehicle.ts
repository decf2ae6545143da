import type { Batch } from '#kernel/batch/batch.ts';

/** A vehicle that sends emulated batches in one session. */
export interface EmulatedVehicle {
  readonly vehicle: string;
  readonly session: string;
}

/** `emu-0001` for index 0; sessions are never used twice, so each run has its own. */
export const emulatedVehicle = (index: number, runId: string): EmulatedVehicle => ({
  vehicle: `emu-${String(index + 1).padStart(4, '0')}`,
  session: `run-${runId}`,
});

/** What the session's time says of a batch; the pipeline does not look at it. */
const SPAN_US = 1_000_000;

export function emulatedBatch(
  { vehicle, session }: EmulatedVehicle,
  campaign: Pick<Batch, 'campaign' | 'campaignVersion'>,
  { seq, end }: Pick<Batch, 'seq' | 'end'>,
  wallUs: number,
): Batch {
  return {
    vehicle,
    session,
    seq,
    ...campaign,
    fromUs: seq * SPAN_US,
    untilUs: (seq + 1) * SPAN_US,
    clock: { monotonicUs: (seq + 1) * SPAN_US, wallUs: Math.round(wallUs), source: 'none' },
    end,
    emulated: true,
    counts: { seen: 0, matched: 0, recorded: 0, dropped: {} },
    groups: [],
  };
}

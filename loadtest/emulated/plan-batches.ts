import { TachographError } from '#kernel/core/errors.ts';
import { MAX_SEQ } from '#kernel/core/ids.ts';

/** One batch to be sent, decided before the first is. */
export interface PlannedBatch {
  /** Index of the vehicle. */
  readonly vehicle: number;
  readonly seq: number;
  /** The vehicle's last one. */
  readonly end: boolean;
  /** ms since the start. */
  readonly intendedMs: number;
}

/**
 * Deals the arrivals out to the vehicles in turn, numbered within each vehicle's session. With fewer
 * arrivals than vehicles the last vehicles get none. Throws LOAD_TOO_LARGE when a session would have
 * more batches than one may.
 */
export function planBatches(times: readonly number[], vehicles: number): PlannedBatch[] {
  const perVehicle = Math.ceil(times.length / vehicles);
  if (perVehicle > MAX_SEQ + 1) {
    const max = (MAX_SEQ + 1) * vehicles;
    throw new TachographError('LOAD_TOO_LARGE', { arrivals: times.length, max });
  }
  return times.map((intendedMs, index) => ({
    vehicle: index % vehicles,
    seq: Math.floor(index / vehicles),
    end: index + vehicles >= times.length,
    intendedMs,
  }));
}

import { randomStream } from '#kernel/core/random.ts';

/**
 * Who a simulated vehicle is: a pure function of (seed, index), so that two runs with one seed record
 * the same sessions and their compacted files can be compared byte by byte.
 */
export interface VehicleIdentity {
  /** `veh-0001` for index 0. */
  readonly vehicle: string;
  /** `s` and 12 hex digits. */
  readonly session: string;
  /** What the vehicle's clock shows at monotonic 0, µs since 1970. */
  readonly wallStartUs: number;
  /** Where in the first batch period it starts, in [0, 1). */
  readonly phase: number;
}

/** 2026-01-05T08:00:00Z, a Monday. */
const FIRST_START_MS = Date.UTC(2026, 0, 5, 8);
const MINUTE_US = 60_000_000;

export function vehicleIdentity(seed: number, index: number): VehicleIdentity {
  const name = `veh-${String(index + 1).padStart(4, '0')}`;
  const session = randomStream(seed, `${name}/session`);
  const hex = (digits: number): string =>
    session
      .below(16 ** digits)
      .toString(16)
      .padStart(digits, '0');
  return {
    vehicle: name,
    session: `s${hex(6)}${hex(6)}`,
    wallStartUs: FIRST_START_MS * 1000 + index * MINUTE_US,
    phase: randomStream(seed, `${name}/phase`).next(),
  };
}

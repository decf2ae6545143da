/** One reading of the vehicle's two clocks at the same moment, µs. */
export interface ClockReading {
  readonly monotonicUs: number;
  readonly wallUs: number;
}

/**
 * The session's start in wall time, µs since 1970-01-01 UTC, from the clock pair of its first batch.
 * Later pairs are reported in the sidecar and never applied, so time never jumps inside a session.
 * A vehicle that believes it is 1970 has a start near 0, which may be negative.
 */
export const sessionStartUs = (first: ClockReading): number =>
  Math.round(first.wallUs - first.monotonicUs);

/** Monotonic times of the session as wall times, whole µs. */
export function wallTimes(timeUs: Float64Array, startUs: number): Float64Array {
  const wall = new Float64Array(timeUs.length);
  for (let row = 0; row < wall.length; row++) wall[row] = Math.round(startUs + (timeUs[row] ?? 0));
  return wall;
}

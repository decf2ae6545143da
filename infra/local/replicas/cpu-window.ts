/** A reading of a counter of CPU time. */
interface Reading {
  readonly atMs: number;
  readonly cpuMs: number;
}

/**
 * Average CPU use over the last `windowMs`, from readings of a counter that never falls.
 *
 * It keeps the readings of the window and the newest one before it, so that a full window is covered;
 * at one reading a second and 15 s that is 16 readings.
 */
export class CpuWindow {
  readonly #windowMs: number;
  #readings: Reading[] = [];

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** Readings it holds. */
  get size(): number {
    return this.#readings.length;
  }

  record(atMs: number, cpuMs: number): void {
    this.#readings.push({ atMs, cpuMs });
    const startMs = atMs - this.#windowMs;
    const first = this.#readings.findLastIndex((reading) => reading.atMs <= startMs);
    if (first > 0) this.#readings.splice(0, first);
  }

  /** In thousandths of a CPU; null before the second reading. 500 ms in the last 2 s are 250. */
  millis(): number | null {
    const first = this.#readings[0];
    const last = this.#readings.at(-1);
    if (first === undefined || last === undefined || last.atMs <= first.atMs) return null;
    return ((last.cpuMs - first.cpuMs) / (last.atMs - first.atMs)) * 1_000;
  }
}

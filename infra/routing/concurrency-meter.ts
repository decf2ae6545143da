/** What a proxy saw in one period. */
export interface ConcurrencyReport {
  /** Integral of the number of requests inside, divided by the period. */
  readonly averageConcurrency: number;
  readonly averageProxiedConcurrency: number;
  /** Requests that came in within the period. */
  readonly requestCount: number;
  readonly proxiedRequestCount: number;
}

/**
 * Integrates the number of requests inside a proxy over time. "Proxied" are those that came through the
 * activator, which counts them too.
 *
 * Two requests of 500 ms one after the other within 1 s: average 1 × 0.5 + 1 × 0.5 = 1, count 2. A
 * request that is still inside counts in each period, its arrival only in the first.
 *
 * Times may run backwards a little (they do upstream, with its threads): such a change counts from the
 * latest time seen. Source: knative/networking pkg/http/stats/request.go.
 */
export class ConcurrencyMeter {
  #lastMs: number;
  #inside = 0;
  #proxiedInside = 0;
  #count = 0;
  #proxiedCount = 0;
  #integral = 0;
  #proxiedIntegral = 0;
  #periodMs = 0;

  constructor(nowMs: number) {
    this.#lastMs = nowMs;
  }

  /** Requests inside at this moment. */
  get inside(): number {
    return this.#inside;
  }

  enter(nowMs: number, proxied: boolean): void {
    this.#advance(nowMs);
    this.#inside += 1;
    this.#count += 1;
    if (!proxied) return;
    this.#proxiedInside += 1;
    this.#proxiedCount += 1;
  }

  /** `proxied` as it was said at `enter`. */
  leave(nowMs: number, proxied: boolean): void {
    this.#advance(nowMs);
    this.#inside -= 1;
    if (proxied) this.#proxiedInside -= 1;
  }

  /** The period since the last report; a period without length has averages of 0. */
  report(nowMs: number): ConcurrencyReport {
    this.#advance(nowMs);
    const average = (integral: number): number =>
      this.#periodMs > 0 ? integral / this.#periodMs : 0;
    const report = {
      averageConcurrency: average(this.#integral),
      averageProxiedConcurrency: average(this.#proxiedIntegral),
      requestCount: this.#count,
      proxiedRequestCount: this.#proxiedCount,
    };
    this.#integral = 0;
    this.#proxiedIntegral = 0;
    this.#count = 0;
    this.#proxiedCount = 0;
    this.#periodMs = 0;
    return report;
  }

  #advance(nowMs: number): void {
    const spanMs = nowMs - this.#lastMs;
    if (spanMs <= 0) return;
    this.#periodMs += spanMs;
    this.#integral += this.#inside * spanMs;
    this.#proxiedIntegral += this.#proxiedInside * spanMs;
    this.#lastMs = nowMs;
  }
}

import { ConcurrencyMeter, type ConcurrencyReport } from './concurrency-meter.ts';

/** What is said at once of a first request: as if it had been inside for a whole period. */
export const FIRST_REQUEST: ConcurrencyReport = {
  averageConcurrency: 1,
  averageProxiedConcurrency: 0,
  requestCount: 1,
  proxiedRequestCount: 0,
};

/**
 * What the activator says about one revision. The first request after a period without any is told at
 * once (FIRST_REQUEST), so that a start from zero does not wait for the period's end, and is taken off
 * the next report again; the concurrency is never below 0 for that.
 *
 * One request that stays: 1 at once, then max(0, 1 − 1) = 0 with count 0, then 1, 1, … with count 0.
 *
 * Source: knative/serving pkg/activator/handler/concurrency_reporter.go.
 */
export class ActivatorMeter {
  #meter: ConcurrencyMeter | undefined;
  #told = 0;

  /** Gives the report to send at once, where this is a first request. */
  enter(nowMs: number): ConcurrencyReport | undefined {
    const first = this.#meter === undefined;
    this.#meter ??= new ConcurrencyMeter(nowMs);
    this.#meter.enter(nowMs, false);
    if (!first) return undefined;
    this.#told = 1;
    return FIRST_REQUEST;
  }

  leave(nowMs: number): void {
    this.#meter?.leave(nowMs, false);
  }

  /** undefined: nothing to say, there was no request for more than a period. */
  report(nowMs: number): ConcurrencyReport | undefined {
    if (this.#meter === undefined) return undefined;
    const report = this.#meter.report(nowMs);
    const told = this.#told;
    this.#told = 0;
    // A request that came in this very moment has no concurrency yet, but is inside.
    if (report.averageConcurrency === 0 && this.#meter.inside === 0) this.#meter = undefined;
    return {
      ...report,
      averageConcurrency: Math.max(0, report.averageConcurrency - told),
      requestCount: report.requestCount - told,
    };
  }
}

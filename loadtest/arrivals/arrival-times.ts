import { TachographError } from '#kernel/core/errors.ts';
import type { Random } from '#kernel/core/random.ts';

/**
 * How arrivals follow a rate. `constant`: one each time the integral of the rate reaches a whole number,
 * so equal distances where the rate is constant. `poisson`: independent arrivals, as many independent
 * sources together give.
 */
export type ArrivalProcess = 'constant' | 'poisson';

export const ARRIVAL_PROCESSES = [
  'constant',
  'poisson',
] as const satisfies readonly ArrivalProcess[];

/** A rate for a time; at rate 0 nothing arrives. */
export interface RateLevel {
  readonly ratePerS: number;
  readonly forMs: number;
}

/** When load arrives, decided beforehand: nothing that the system does changes it. */
export type Arrivals =
  | { readonly kind: ArrivalProcess; readonly ratePerS: number }
  /** One level after the other; after the last one nothing arrives. */
  | {
      readonly kind: 'step';
      readonly process: ArrivalProcess;
      readonly levels: readonly RateLevel[];
    };

/** An hour at 277 a second. Each is planned beforehand and has a record afterwards. */
export const MAX_ARRIVALS = 1_000_000;

/**
 * The times of arrival within [0, durationMs), ascending, in ms: a pure function of its arguments.
 *
 * Inversion of the integral of the rate: points of a process of rate 1 are mapped to the time at which
 * the integral reaches them. At 20 a second, constant, for 1 s: 0, 50 … 950. In a step of 2 s at 0/s and
 * 1 s at 4/s: 2000, 2250, 2500, 2750. Throws LOAD_TOO_LARGE beyond MAX_ARRIVALS.
 *
 * Source: Çinlar, Introduction to Stochastic Processes (1975), 4.7: time change of a Poisson process.
 */
export function arrivalTimes(arrivals: Arrivals, durationMs: number, random: Random): number[] {
  const expected = expectedArrivals(arrivals, durationMs);
  if (expected > MAX_ARRIVALS) {
    throw new TachographError('LOAD_TOO_LARGE', {
      arrivals: Math.ceil(expected),
      max: MAX_ARRIVALS,
    });
  }
  const process = arrivals.kind === 'step' ? arrivals.process : arrivals.kind;
  const step = unitStep(process, random);
  const times: number[] = [];
  let startMs = 0;
  /** The integral of the rate up to `startMs`. */
  let reached = 0;
  // An arrival of the constant process stands at the beginning of each whole unit.
  let point = process === 'constant' ? 0 : step();
  for (const { ratePerS, forMs } of levelsUntil(arrivals, durationMs)) {
    const endMs = startMs + forMs;
    if (ratePerS > 0) {
      const meanMs = 1_000 / ratePerS;
      for (;;) {
        // By multiplication: adding up 1/3 s would end an hour late by what each sum rounds away.
        const timeMs = startMs + Math.max(0, point - reached) * meanMs;
        // The number is itself random, with a spread of its square root: 1,000 standard deviations away.
        if (timeMs >= endMs || times.length >= 2 * MAX_ARRIVALS) break;
        times.push(timeMs);
        point += step();
      }
    }
    reached += (ratePerS * forMs) / 1_000;
    startMs = endMs;
  }
  return times;
}

/** The integral of the rate over [0, durationMs): how many arrivals there are, or are on average. */
export const expectedArrivals = (arrivals: Arrivals, durationMs: number): number =>
  levelsUntil(arrivals, durationMs).reduce(
    (sum, { ratePerS, forMs }) => sum + (ratePerS * forMs) / 1_000,
    0,
  );

/** Distance to the next point of a process of rate 1. */
const unitStep = (process: ArrivalProcess, random: Random): (() => number) =>
  // 1 - next() lies in (0, 1], so that the logarithm is finite.
  process === 'constant' ? () => 1 : () => -Math.log(1 - random.next());

/** Rate by time, cut at `durationMs`. */
function levelsUntil(arrivals: Arrivals, durationMs: number): readonly RateLevel[] {
  if (arrivals.kind !== 'step') return [{ ratePerS: arrivals.ratePerS, forMs: durationMs }];
  const levels: RateLevel[] = [];
  let leftMs = durationMs;
  for (const { ratePerS, forMs } of arrivals.levels) {
    levels.push({ ratePerS, forMs: Math.min(forMs, leftMs) });
    leftMs -= forMs;
    if (leftMs <= 0) break;
  }
  return levels;
}

/** `20/s, poisson arrivals` or `0/s 5 s, 8/s 40 s, 0/s 10 s, poisson arrivals`. */
export function arrivalsText(arrivals: Arrivals): string {
  if (arrivals.kind !== 'step') return `${arrivals.ratePerS}/s, ${arrivals.kind} arrivals`;
  const levels = arrivals.levels.map(({ ratePerS, forMs }) => `${ratePerS}/s ${forMs / 1_000} s`);
  return `${levels.join(', ')}, ${arrivals.process} arrivals`;
}

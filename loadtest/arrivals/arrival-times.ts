import { TachographError } from '#kernel/core/errors.ts';
import type { Random } from '#kernel/core/random.ts';

/** When load arrives, decided beforehand: nothing that the system does changes it. */
export type Arrivals =
  /** Equal distances. */
  | { readonly kind: 'constant'; readonly ratePerS: number }
  /** Independent arrivals: exponential distances, as many independent sources together give. */
  | { readonly kind: 'poisson'; readonly ratePerS: number };

export const ARRIVAL_KINDS = ['constant', 'poisson'] as const satisfies readonly Arrivals['kind'][];

/** An hour at 277 a second. Each is planned beforehand and has a record afterwards. */
export const MAX_ARRIVALS = 1_000_000;

/**
 * The times of arrival within [0, durationMs), ascending, in ms: a pure function of its arguments. At 20
 * a second, constant, for 1 s: 0, 50 … 950. Throws LOAD_TOO_LARGE beyond MAX_ARRIVALS.
 */
export function arrivalTimes(arrivals: Arrivals, durationMs: number, random: Random): number[] {
  const meanMs = 1_000 / arrivals.ratePerS;
  const expected = durationMs / meanMs;
  if (expected > MAX_ARRIVALS) {
    throw new TachographError('LOAD_TOO_LARGE', {
      arrivals: Math.ceil(expected),
      max: MAX_ARRIVALS,
    });
  }
  const times: number[] = [];
  if (arrivals.kind === 'constant') {
    // By multiplication: adding up 1/3 s would end an hour late by what each sum rounds away.
    for (let k = 0; k * meanMs < durationMs; k++) times.push(k * meanMs);
    return times;
  }
  // 1 - next() lies in (0, 1], so that the logarithm is finite.
  const distanceMs = (): number => -Math.log(1 - random.next()) * meanMs;
  for (let timeMs = distanceMs(); timeMs < durationMs; timeMs += distanceMs()) {
    // The number is itself random, with a spread of its square root: 1,000 standard deviations away.
    if (times.length >= 2 * MAX_ARRIVALS) break;
    times.push(timeMs);
  }
  return times;
}

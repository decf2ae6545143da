import fc from 'fast-check';
import type { Amount, Demand } from '../demand.ts';
import { MAX_BURST_MS, MAX_MEMORY_BYTES, MAX_PAYLOAD_BYTES } from '../demand-limits.ts';

/** Amounts whose mean is at most half of the maximum, so that every one of them is allowed. */
export function amounts(max: number): fc.Arbitrary<Amount> {
  const value = fc.double({ min: 0, max: max / 4, noNaN: true });
  return fc.oneof(
    value.map((constant): Amount => ({ kind: 'constant', value: constant })),
    fc
      .tuple(value, value)
      .map(([a, b]): Amount => ({ kind: 'uniform', min: Math.min(a, b), max: Math.max(a, b) })),
    fc.tuple(value, value).map(([mean, sd]): Amount => ({ kind: 'normal', mean, sd })),
    value.map((mean): Amount => ({ kind: 'exponential', mean })),
    fc
      .tuple(value, fc.double({ min: 0, max: 10, noNaN: true }))
      .map(([mean, cv]): Amount => ({ kind: 'lognormal', mean, cv })),
    fc.constantFrom<Amount>({ kind: 'empirical', file: 'traces/values.txt', values: [1, 2, 3] }),
  );
}

const place = fc.constantFrom('before', 'after', 'instead' as const);
const ms = amounts(MAX_BURST_MS);

/** Demands that `parseDemands` must read back from what `formatDemand` writes. */
export const demands: fc.Arbitrary<Demand> = fc.oneof(
  fc.record({
    kind: fc.constant('work' as const),
    ms,
    place,
    rate: fc.constantFrom('reference', 'local' as const),
  }),
  fc.record({ kind: fc.constantFrom('cpuTime', 'delay' as const), ms, place }),
  fc.record({
    kind: fc.constant('memory' as const),
    bytes: amounts(MAX_MEMORY_BYTES),
    holdMs: fc.double({ min: 0, max: MAX_BURST_MS, noNaN: true }),
    place,
  }),
  fc.record({ kind: fc.constant('payload' as const), bytes: amounts(MAX_PAYLOAD_BYTES), place }),
);

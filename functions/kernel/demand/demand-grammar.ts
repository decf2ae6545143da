import { MAX_BURST_MS, MAX_MEMORY_BYTES, MAX_PAYLOAD_BYTES } from './demand-limits.ts';
import type { DemandKind, Place } from './demand.ts';

/** What an amount measures: its units, by their size in the base unit (ms, bytes). */
export interface Quantity {
  readonly name: 'time' | 'size';
  readonly units: Readonly<Record<string, number>>;
}

export const TIME: Quantity = { name: 'time', units: { us: 0.001, ms: 1, s: 1000 } };

export const SIZE: Quantity = {
  name: 'size',
  units: { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 },
};

export interface KindRule {
  readonly quantity: Quantity;
  readonly max: number;
  readonly maxText: string;
}

const time: KindRule = { quantity: TIME, max: MAX_BURST_MS, maxText: '60s' };

export const KINDS: Readonly<Record<DemandKind, KindRule>> = {
  cpuTime: time,
  work: time,
  delay: time,
  memory: { quantity: SIZE, max: MAX_MEMORY_BYTES, maxText: '1GiB' },
  payload: { quantity: SIZE, max: MAX_PAYLOAD_BYTES, maxText: '8MiB' },
};

export const HOLD: KindRule = time;

export const PLACES: readonly Place[] = ['before', 'after', 'instead'];

/** The parameters of each distribution, in the order they are written. `file` and `cv` have no unit. */
export const DISTRIBUTIONS = {
  uniform: ['min', 'max'],
  normal: ['mean', 'sd'],
  exponential: ['mean'],
  lognormal: ['mean', 'cv'],
  empirical: ['file'],
} as const;

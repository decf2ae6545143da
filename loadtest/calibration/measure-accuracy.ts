import { assert } from '#kernel/core/assert.ts';
import { TachographError } from '#kernel/core/errors.ts';
import {
  type AccuracyRow,
  accuracyRow,
  type AccuracyTable,
  type Condition,
} from './accuracy-row.ts';
import {
  type Accounted,
  type Burst,
  type BurnStand,
  type Loop,
  LOOPS,
  type Series,
} from './burn-stand.ts';
import type { Neighbours } from './busy-neighbours.ts';
import { emptyRequestMs, warmUpOf } from './calibrate.ts';
import { fitRate } from './fit-rate.ts';

export interface AccuracyOptions {
  readonly startStand: () => Promise<BurnStand>;
  readonly startNeighbours: (count: number, maxMs: number) => Promise<Neighbours>;
  readonly onProgress: (line: string) => void;
}

/**
 * Bursts by size, in rounds over the loops, so that a drift of the machine meets all of them alike. A
 * round of short bursts has many: the few µs that a request costs behind a burst must not count.
 */
export const SIZES = [
  { nominalMs: 1, n: 400, rounds: 2 },
  { nominalMs: 5, n: 120, rounds: 2 },
  { nominalMs: 50, n: 40, rounds: 2 },
  { nominalMs: 200, n: 10, rounds: 2 },
  { nominalMs: 1000, n: 5, rounds: 5 },
] as const;
export const NEIGHBOURS = 2;
/** All of it takes about three minutes; the neighbours of a process that hangs end after ten. */
const MAX_NEIGHBOUR_MS = 600_000;

/**
 * Burns each size by each loop, first with nothing beside it, then beside two busy loops. Every burst
 * counts. Throws CPU_CLOCK_UNUSABLE where there is no clock to measure by.
 */
export async function measureAccuracy(options: AccuracyOptions): Promise<AccuracyTable> {
  const quiet = await measureCondition('quiet', options);
  options.onProgress(`Starting ${NEIGHBOURS} busy loops`);
  const neighbours = await options.startNeighbours(NEIGHBOURS, MAX_NEIGHBOUR_MS);
  try {
    const busy = await measureCondition('busy', options);
    return {
      rows: [...quiet.rows, ...busy.rows],
      stepsPerMs: { quiet: quiet.stepsPerMs, busy: busy.stepsPerMs },
    };
  } finally {
    await neighbours.stop();
  }
}

interface ConditionResult {
  readonly rows: readonly AccuracyRow[];
  readonly stepsPerMs: number;
}

async function measureCondition(
  condition: Condition,
  { startStand, onProgress }: AccuracyOptions,
): Promise<ConditionResult> {
  const stand = await startStand();
  try {
    if (stand.clockFault !== null) {
      throw new TachographError('CPU_CLOCK_UNUSABLE', { faults: stand.clockFault });
    }
    const fit = fitRate((await stand.rate()).value);
    assert(fit !== null, 'a clock that passed its test times pieces of 1 ms');
    const rows: AccuracyRow[] = [];
    for (const size of SIZES) {
      const { nominalMs, n } = size;
      onProgress(`${condition}: ${n} bursts of ${nominalMs} ms by each of ${LOOPS.length} loops`);
      rows.push(...(await measureSize(condition, stand, { ...size, stepsPerMs: fit.stepsPerMs })));
    }
    return { rows, stepsPerMs: fit.stepsPerMs };
  } finally {
    await stand.close();
  }
}

async function measureSize(
  condition: Condition,
  stand: BurnStand,
  { rounds, ...series }: Omit<Series, 'loop'> & { readonly rounds: number },
): Promise<readonly AccuracyRow[]> {
  const results = new Map<Loop, Accounted<readonly Burst[]>[]>(LOOPS.map((loop) => [loop, []]));
  await stand.series(warmUpOf({ ...series, loop: 'hybrid' }));
  const requestMs = await emptyRequestMs(stand);
  for (let round = 0; round < rounds; round++) {
    for (const [loop, own] of results) {
      own.push(await stand.series({ ...series, n: series.n / rounds, loop }));
    }
  }
  const { nominalMs } = series;
  return Array.from(results, ([loop, own]) =>
    accuracyRow({ condition, nominalMs, loop }, own, requestMs),
  );
}

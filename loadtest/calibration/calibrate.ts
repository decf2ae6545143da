import {
  type Calibration,
  CALIBRATION_SCHEMA,
  type CalibrationKey,
  type VerifyRow,
} from '#kernel/calibration/calibration.ts';
import { must } from '#kernel/core/assert.ts';
import type { Clock } from '#kernel/core/clock.ts';
import { REFERENCE_STEPS_PER_MS } from '#kernel/demand/wasm-kernel.ts';
import type { Accounted, BurnStand, Series } from './burn-stand.ts';
import { fitRate } from './fit-rate.ts';
import { judge } from './judge.ts';
import {
  type DisturbanceCounters,
  stealShareBetween,
  throttledBetween,
} from './machine-disturbance.ts';
import { biasPct, seriesError } from './series-error.ts';

export interface CalibrateOptions {
  readonly key: CalibrationKey;
  readonly clock: Clock;
  readonly readCounters: () => Promise<DisturbanceCounters>;
}

/** Sizes and numbers of the bursts that check a calibration: 100 ms of CPU each. */
const VERIFY = [
  { nominalMs: 1, n: 100 },
  { nominalMs: 5, n: 20 },
] as const;

/** Requests without a burst, whose median cost is taken from what the outside clock says. */
const EMPTY_REQUESTS = 9;

/**
 * Measures the machine's rate and checks bursts of 1 and 5 ms: half a second of CPU time. Without a usable
 * CPU clock nothing is burned and the verdict is `coarse-clock`, with rate and spread null.
 */
export async function calibrate(stand: BurnStand, options: CalibrateOptions): Promise<Calibration> {
  const { key, clock, readCounters } = options;
  const meter = createMeter();
  const before = await readCounters();
  const fit = stand.clock === null ? null : fitRate(meter.add(await stand.rate()));
  const verify: VerifyRow[] = [];
  if (fit !== null) {
    const requestMs = await emptyRequestMs(stand);
    for (const { nominalMs, n } of VERIFY) {
      const series = { loop: 'hybrid', nominalMs, n, stepsPerMs: fit.stepsPerMs } as const;
      meter.add(await stand.series(warmUpOf(series)));
      const result = await stand.series(series);
      const values = meter.add(result).map(({ cpuMs }) => cpuMs);
      const outside = outsideBiasPct(nominalMs, n, [result], requestMs);
      verify.push({
        nominalMs,
        ...seriesError(nominalMs, values),
        n,
        outsideBiasPct: outside,
      });
    }
  }
  const after = await readCounters();
  const disturbance = {
    readyShare: meter.readyShare(),
    throttledPeriods: throttledBetween(before, after),
    stealShare: stealShareBetween(before, after),
  };
  const judgement = judge({
    clockFault: stand.clockFault,
    clockStepUs: stand.clock?.stepUs ?? null,
    spread: fit?.spread ?? null,
    verify,
    disturbance,
  });
  return {
    schema: CALIBRATION_SCHEMA,
    measuredAt: new Date(clock.nowMs()).toISOString(),
    key,
    ...judgement,
    rate: fit === null ? null : fit.stepsPerMs / REFERENCE_STEPS_PER_MS,
    spread: fit?.spread ?? null,
    clock: stand.clock ?? { kind: 'none', stepUs: null },
    verify,
    disturbance,
    burnedCpuMs: meter.cpuMs(),
  };
}

/**
 * Bursts that go before those that count, 20 ms of them: the engine compiles what runs between two
 * bursts, and the burner learns what its own readings cost behind a burst of this size.
 */
export const warmUpOf = (series: Series): Series => ({
  ...series,
  loop: 'hybrid',
  n: Math.max(1, Math.round(20 / series.nominalMs)),
});

interface Meter {
  /** Counts a request's account, and gives back its value. */
  add<T>(result: Accounted<T>): T;
  cpuMs(): number | null;
  /** Waiting over waiting and running; null where the kernel keeps no account. */
  readyShare(): number | null;
}

function createMeter(): Meter {
  let cpuMs = 0;
  let readyMs = 0;
  let known = true;
  return {
    add({ value, account }) {
      known &&= account !== null;
      cpuMs += account?.cpuMs ?? 0;
      readyMs += account?.readyMs ?? 0;
      return value;
    },
    cpuMs: () => (known ? cpuMs : null),
    readyShare: () => (known && cpuMs + readyMs > 0 ? readyMs / (cpuMs + readyMs) : null),
  };
}

/** Median CPU time that asking costs, by the outside clock; 0 where there is none. */
export async function emptyRequestMs(stand: BurnStand): Promise<number> {
  const costs: number[] = [];
  for (let request = 0; request < EMPTY_REQUESTS; request++) {
    costs.push((await stand.nothing()).account?.cpuMs ?? 0);
  }
  costs.sort((a, b) => a - b);
  return must(costs[(EMPTY_REQUESTS - 1) / 2], 'median of the empty requests');
}

/** Bias of n bursts by the outside clock, after the requests' own cost; null where there is none. */
export function outsideBiasPct(
  nominalMs: number,
  n: number,
  results: readonly Accounted<unknown>[],
  requestMs: number,
): number | null {
  let cpuMs = 0;
  for (const { account } of results) {
    if (account === null) return null;
    cpuMs += account.cpuMs - requestMs;
  }
  return biasPct(nominalMs, cpuMs / n);
}

import { quantilesOf } from './quantiles.ts';
import type { BurstRecord } from './burst-record.ts';
import type { Quantiles } from './quantiles.ts';

/** `stages.NAME.bursts`: what a stage's demands consumed. The times are those of its CPU bursts. */
export interface BurstSummary {
  /** Bursts of every kind. */
  readonly n: number;
  readonly aborted: number;
  /** Bursts that were executed and whose rows came too late to be read. */
  readonly lost: number;
  /** Bursts by `KIND@PLACE`. */
  readonly kinds: Readonly<Record<string, number>>;
  readonly cpuMs: Quantiles;
  /** CPU time over the asked one; of `cpuTime` alone, and of bursts that were not aborted. */
  readonly cpuErrorMs: Quantiles;
  readonly wallMs: Quantiles;
  /** Waiting on the run queue; without values where the system does not count it. */
  readonly readyMs: Quantiles;
  /** Neither running nor waiting for a CPU. */
  readonly restMs: Quantiles;
  /** Waiting for a free burner before it began; not part of `wallMs`. */
  readonly queuedMs: Quantiles;
  readonly involuntarySwitches: number;
}

/** By stage. A stage with demands and without bursts has a summary of none. */
export function burstSummaries(
  records: readonly BurstRecord[],
  lost: Readonly<Record<string, number>>,
): Readonly<Record<string, BurstSummary>> {
  const stages = new Map<string, BurstRecord[]>(Object.keys(lost).map((stage) => [stage, []]));
  for (const record of records) {
    const own = stages.get(record.stage);
    if (own === undefined) stages.set(record.stage, [record]);
    else own.push(record);
  }
  return Object.fromEntries(
    [...stages].map(([stage, own]) => [stage, summaryOf(own, lost[stage] ?? 0)]),
  );
}

function summaryOf(bursts: readonly BurstRecord[], lost: number): BurstSummary {
  const kinds: Record<string, number> = {};
  for (const { kind, place } of bursts) {
    kinds[`${kind}@${place}`] = (kinds[`${kind}@${place}`] ?? 0) + 1;
  }
  const cpu = bursts.filter(({ kind }) => kind === 'cpuTime' || kind === 'work');
  const whole = cpu.filter(({ kind, aborted }) => kind === 'cpuTime' && !aborted);
  const known = (values: readonly (number | null)[]): Quantiles =>
    quantilesOf(values.filter((value) => value !== null));
  return {
    n: bursts.length,
    aborted: bursts.filter(({ aborted }) => aborted).length,
    lost,
    kinds,
    cpuMs: quantilesOf(cpu.map(({ cpuMs }) => cpuMs)),
    cpuErrorMs: quantilesOf(whole.map(({ cpuMs, nominal }) => cpuMs - nominal)),
    wallMs: quantilesOf(cpu.map(({ wallMs }) => wallMs)),
    readyMs: known(cpu.map(({ readyMs }) => readyMs)),
    queuedMs: quantilesOf(cpu.map(({ queuedMs }) => queuedMs)),
    restMs: known(cpu.map(({ restMs }) => restMs)),
    involuntarySwitches: cpu.reduce((sum, burst) => sum + burst.involuntarySwitches, 0),
  };
}

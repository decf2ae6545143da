import { cliffsDelta, effectSize } from '#loadtest/statistics/cliffs-delta.ts';
import { pairedShift, type PairedShift } from '#loadtest/statistics/hodges-lehmann.ts';
import { median } from '#loadtest/statistics/sample.ts';
import { executionsOf, known, relativeError, type StudyCell } from './study-cells.ts';
import type { Study } from './study.ts';
import type { QosResult, QosRow, QosVerdict } from './variability-summary.ts';

const LEVEL = 0.95;
/** An interval of a lower level, for want of pairs, decides nothing. */
const MIN_LEVEL = 0.9;

/** Median relative errors (%) of the executions that both classes have. */
export interface PairedErrors {
  readonly demandMs: number;
  readonly bestEffort: readonly number[];
  readonly guaranteed: readonly number[];
}

/**
 * Guaranteed against best-effort. The two executions with the same number on the same node are a pair:
 * they ran in the same block, so most of what drifts is in both.
 */
export function qosComparison(study: Study, cells: readonly StudyCell[]): QosResult {
  const { marginPct } = study;
  if (study.qos.length < 2) {
    return { marginPct, demands: [], reason: `only ${study.qos.join()} was measured` };
  }
  const demands = pairedErrors(study, cells).map((errors) => compare(errors, marginPct));
  return { marginPct, demands, reason: null };
}

export function pairedErrors(study: Study, cells: readonly StudyCell[]): readonly PairedErrors[] {
  return study.demands.map(({ ms: demandMs }) => {
    const [first, second] = (['best-effort', 'guaranteed'] as const).map((qos) =>
      executionErrors(cells.find((cell) => cell.qos === qos && cell.demandMs === demandMs)),
    );
    const shared = [...(first?.keys() ?? [])].filter((key) => second?.has(key) === true);
    return {
      demandMs,
      bestEffort: shared.map((key) => first?.get(key) ?? Number.NaN),
      guaranteed: shared.map((key) => second?.get(key) ?? Number.NaN),
    };
  });
}

function executionErrors(cell: StudyCell | undefined): ReadonlyMap<string, number> {
  return new Map(
    executionsOf(cell?.rows ?? []).map((own) => [
      `${own[0]?.node ?? ''}/${own[0]?.execution ?? ''}`,
      100 * median(own.map(relativeError)),
    ]),
  );
}

export const shiftsOf = ({ bestEffort, guaranteed }: PairedErrors): readonly number[] =>
  guaranteed.map((value, index) => value - (bestEffort[index] ?? Number.NaN));

function compare(errors: PairedErrors, marginPct: number): QosRow {
  const shift = pairedShift(shiftsOf(errors), LEVEL);
  const delta = cliffsDelta(errors.guaranteed, errors.bestEffort);
  return {
    demandMs: errors.demandMs,
    pairs: shift.pairs,
    shiftPct: { value: known(shift.estimate), low: known(shift.low), high: known(shift.high) },
    level: shift.level,
    cliffsDelta: known(delta),
    effect: Number.isNaN(delta) ? null : effectSize(delta),
    verdict: verdictOf(shift, marginPct),
  };
}

/** Within the margin counts as equal, even where it is surely not 0: so small a shift is of no matter. */
export function verdictOf(
  { low, high, level }: Pick<PairedShift, 'low' | 'high' | 'level'>,
  marginPct: number,
): QosVerdict {
  if (!(level >= MIN_LEVEL)) return 'undecided';
  if (low > -marginPct && high < marginPct) return 'equivalent';
  return low > 0 || high < 0 ? 'different' : 'undecided';
}

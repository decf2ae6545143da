import { PHASES, type Phase } from '#kernel/core/phases.ts';
import type { BatchTrace } from './trace-analysis.ts';

export type QuantileName = 'p50' | 'p95' | 'p99';

/** How the time of one trace divides; ms. */
export interface Breakdown {
  readonly quantile: QuantileName;
  readonly totalMs: number;
  readonly parts: readonly { readonly name: string; readonly ms: number }[];
}

export interface StageBreakdown {
  /** A stage, or WHOLE_WAY. */
  readonly stage: string;
  readonly bars: readonly Breakdown[];
}

/** The whole way of a batch, which divides into stages. */
export const WHOLE_WAY = 'whole way';

const QUANTILES: readonly (readonly [QuantileName, number, number])[] = [
  ['p50', 0.5, 1],
  ['p95', 0.95, 20],
  ['p99', 0.99, 100],
];

/**
 * Where the time goes, by stage, at p50, p95 and p99: of each stage the trace whose time there is that
 * quantile, by nearest rank. The quantiles of each phase by itself would add up to no trace there is.
 */
export function stageBreakdowns(traces: readonly BatchTrace[]): readonly StageBreakdown[] {
  const complete = traces.filter(({ totalMs }) => totalMs !== null);
  const stages = stagesInOrder(complete);
  const whole: StageBreakdown = {
    stage: WHOLE_WAY,
    bars: barsOf(
      complete,
      ({ totalMs }) => totalMs ?? 0,
      (trace) => [
        ...stages.map((name) => ({ name, ms: sum(trace, (step) => step.stage === name) })),
        { name: 'residual', ms: trace.residualMs },
      ],
    ),
  };
  if (complete.length === 0) return [];
  return [
    whole,
    ...stages.map((stage) => ({
      stage,
      bars: barsOf(
        complete,
        (trace) => sum(trace, (step) => step.stage === stage),
        (trace) =>
          PHASES.map((phase) => ({ name: phase, ms: sumOfPhase(trace, stage, phase) })).filter(
            ({ ms }) => ms > 0,
          ),
      ),
    })),
  ];
}

/** In the order of the way. */
function stagesInOrder(traces: readonly BatchTrace[]): readonly string[] {
  const stages: string[] = [];
  for (const { path } of traces) {
    for (const { stage } of path) if (!stages.includes(stage)) stages.push(stage);
  }
  return stages;
}

function barsOf(
  traces: readonly BatchTrace[],
  timeOf: (trace: BatchTrace) => number,
  partsOf: (trace: BatchTrace) => Breakdown['parts'],
): readonly Breakdown[] {
  const fastFirst = [...traces].sort((a, b) => timeOf(a) - timeOf(b));
  return QUANTILES.flatMap(([quantile, p, min]) => {
    if (fastFirst.length < min) return [];
    const rank = Math.max(1, Math.ceil(Math.round(p * fastFirst.length * 1e6) / 1e6));
    const trace = fastFirst[rank - 1];
    if (trace === undefined) return [];
    return [{ quantile, totalMs: timeOf(trace), parts: partsOf(trace) }];
  });
}

type Step = BatchTrace['path'][number];

const sum = ({ path }: BatchTrace, isCounted: (step: Step) => boolean): number =>
  path.reduce((ms, step) => (isCounted(step) ? ms + step.untilMs - step.fromMs : ms), 0);

const sumOfPhase = (trace: BatchTrace, stage: string, phase: Phase): number =>
  sum(trace, (step) => step.stage === stage && step.phase === phase);

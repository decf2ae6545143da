import {
  correlationPower,
  criticalCorrelation,
  detectableCorrelation,
  pairsNeeded,
} from '#loadtest/statistics/correlation-power.ts';
import {
  detectableGroupSd,
  detectableShift,
  sdRange,
} from '#loadtest/statistics/detectable-difference.ts';
import { standardDeviation } from '#loadtest/statistics/sample.ts';
import { mean } from '#loadtest/statistics/sample.ts';
import { varianceComponents } from '#loadtest/statistics/variance-components.ts';
import { pairedErrors, shiftsOf } from './qos-comparison.ts';
import { executionsOf, known, relativeError, type StudyCell } from './study-cells.ts';
import type { Study } from './study.ts';
import type { Detectable } from './variability-summary.ts';

const POWER = 0.8;
const ALPHA = 0.05;
const USUAL = { power: POWER, alpha: ALPHA };

/** Which differences this design could have shown at all, given the scatter that was seen. */
export function detectableEffects(study: Study, cells: readonly StudyCell[]): Detectable {
  const nodes = study.nodes.length;
  const factors = sdRange(study.executions, 0.95);
  return {
    ...USUAL,
    correlation: {
      nodes,
      critical: known(criticalCorrelation(nodes, ALPHA)),
      smallestP: nodes < 2 ? null : known(Math.min(1, 2 / factorial(nodes))),
      detectable: known(detectableCorrelation(nodes, POWER, ALPHA)),
      powerAtHalf: known(correlationPower(nodes, 0.5, ALPHA)),
      nodesForHalf: known(pairsNeeded(0.5, POWER, ALPHA)),
    },
    qosShift:
      study.qos.length < 2
        ? []
        : pairedErrors(study, cells).map((errors) => {
            const shifts = shiftsOf(errors);
            const detectable = detectableShift(shifts.length, standardDeviation(shifts), USUAL);
            return {
              demandMs: errors.demandMs,
              pairs: shifts.length,
              detectablePct: known(detectable),
            };
          }),
    nodeSd: cells.map(({ qos, demandMs, rows }) => ({
      qos,
      demandMs,
      detectablePct: known(nodeSdPct(study, rows)),
    })),
    sdFactors: { low: known(factors.low), high: known(factors.high) },
  };
}

/** From the means of executions: their variance within nodes is what a node effect must rise above. */
function nodeSdPct(study: Study, rows: StudyCell['rows']): number {
  const means = executionsOf(rows).map((own) => ({
    groups: [own[0]?.node ?? ''],
    value: 100 * mean(own.map(relativeError)),
  }));
  const within = varianceComponents(means, 1)[1]?.meanSquare ?? Number.NaN;
  const design = { groups: study.nodes.length, perGroup: study.executions };
  return detectableGroupSd(design, Math.sqrt(within), USUAL);
}

const factorial = (n: number): number => (n < 2 ? 1 : n * factorial(n - 1));

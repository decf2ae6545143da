import type { Burner, BurstRequest } from '#kernel/demand/burner.ts';
import { iterationOrder } from './study-order.ts';
import type { ExecutionCell } from './study-order.ts';
import type { BurstRow } from './study-rows.ts';
import type { Study } from './study.ts';

export interface BurnParts {
  readonly burner: Pick<Burner, 'burn'>;
  /** Steps a CPU-ms by this execution's own calibration; null where it has none. */
  readonly localStepsPerMs: number | null;
  /** Between two bursts: lets the process hear that its parent is gone. */
  readonly turn: () => Promise<void>;
}

/** All bursts of one execution, in its order. */
export async function burnExecution(
  study: Study,
  cell: ExecutionCell,
  { burner, localStepsPerMs, turn }: BurnParts,
): Promise<readonly BurstRow[]> {
  const stepsPerMs =
    study.rate === 'local' && localStepsPerMs !== null ? localStepsPerMs : 'reference';
  const rows: BurstRow[] = [];
  for (const { demandMs, iteration, bursts } of iterationOrder(study, cell)) {
    for (let burst = 0; burst < bursts; burst++) {
      const place = 'instead';
      const request: BurstRequest =
        study.kind === 'work'
          ? { kind: 'work', place, ms: demandMs, stepsPerMs }
          : { kind: 'cpuTime', place, ms: demandMs };
      const report = burner.burn(request, () => false);
      rows.push({
        ...cell,
        iteration,
        burst,
        order: rows.length,
        demandMs,
        steps: report.steps,
        cpuMs: report.cpuMs,
        wallMs: report.wallMs,
        readyMs: report.readyMs,
        restMs: report.restMs,
        involuntarySwitches: report.involuntarySwitches,
        rate: report.rate,
      });
      await turn();
    }
  }
  return rows;
}

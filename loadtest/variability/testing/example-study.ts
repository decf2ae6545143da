import { randomStream } from '#kernel/core/random.ts';
import { executionOrder, iterationOrder, type ExecutionCell } from '../study-order.ts';
import type { BurstRow, ExecutionRow, ProbeFacts } from '../study-rows.ts';
import { MARGIN_PCT, QOS_CLASSES, type Study } from '../study.ts';
import type { VariabilityRecords } from '../variability-records.ts';

export const exampleStudy = (change: Partial<Study> = {}): Study => ({
  seed: 1,
  kind: 'work',
  rate: 'reference',
  nodes: [0, 1, 2, 3, 4].map((neighbours) => ({
    name: `node-${neighbours + 1}`,
    millicores: 1_000,
    neighbours,
  })),
  qos: QOS_CLASSES,
  demands: [
    { ms: 50, bursts: 4 },
    { ms: 200, bursts: 2 },
  ],
  executions: 3,
  iterations: 2,
  limitMillicores: 1_000,
  marginPct: MARGIN_PCT,
  ...change,
});

export const PROBE: ProbeFacts = {
  cpuModel: 'Example CPU',
  architecture: 'x64',
  kernel: '6.1.0',
  nodeVersion: 'v24.0.0',
  kernelSha256: 'ab',
  clock: 'pair',
  cpusAllowed: '0-1',
  rate: 1.1,
  spread: 1.05,
  throttledPeriods: 0,
  stealShare: 0,
  cpuPressureMs: null,
};

export const exampleExecution = (cell: ExecutionCell, order: number, pods = 0): ExecutionRow => ({
  ...cell,
  order,
  startedMs: order * 1_000,
  durationMs: 900,
  occupancy: { pods, millicores: pods * 145, machineMillicores: 200 + pods * 145, windowMs: 250 },
  probe: PROBE,
});

export interface ExampleErrors {
  /** Relative error that a cell adds; default: 1 % for each neighbour and class. */
  readonly shift?: (cell: ExecutionCell, pods: number) => number;
  /** Largest noise of a burst, relative; default: 1 % and as much for each neighbour. */
  readonly noise?: (pods: number) => number;
}

/** The records of a study in which busy nodes are slower and vary more. */
export function exampleVariability(
  study: Study = exampleStudy(),
  { shift = (_, pods) => pods / 100, noise = (pods) => (1 + pods) / 100 }: ExampleErrors = {},
): VariabilityRecords {
  const random = randomStream(study.seed, 'example');
  const executions: ExecutionRow[] = [];
  const bursts: BurstRow[] = [];
  for (const [order, cell] of executionOrder(study).entries()) {
    const pods = study.nodes.find(({ name }) => name === cell.node)?.neighbours ?? 0;
    executions.push(exampleExecution(cell, order, pods));
    const own: BurstRow[] = [];
    for (const step of iterationOrder(study, cell)) {
      for (let burst = 0; burst < step.bursts; burst++) {
        const error = shift(cell, pods) + noise(pods) * (2 * random.next() - 1);
        const wallMs = step.demandMs * (1 + error);
        own.push({
          ...cell,
          iteration: step.iteration,
          burst,
          order: own.length,
          demandMs: step.demandMs,
          steps: step.demandMs * 800_000,
          cpuMs: step.demandMs,
          wallMs,
          readyMs: wallMs - step.demandMs,
          restMs: 0,
          involuntarySwitches: 1,
          rate: 1,
        });
      }
    }
    bursts.push(...own);
  }
  return {
    config: { schema: 'tachograph.config/1', kind: 'Variability', name: 'variability', study },
    run: {
      schema: 'tachograph.run/1',
      startedAt: '2026-01-01T00:00:00.000Z',
      durationMs: 61_000,
      enforcement: { enforced: true, cgroup: 'v2', detail: '/sys/fs/cgroup/x' },
      interrupted: false,
      planned: executions.length,
      problems: [],
    },
    environment: {
      cpuModel: 'Example CPU',
      cores: 2,
      memoryBytes: 4 * 1024 ** 3,
      os: 'Linux 6.1.0 x64',
      node: 'v24.0.0',
      natsServer: null,
      gitCommit: 'abc',
      gitDirty: false,
    },
    executions,
    bursts,
  };
}

import { randomStream } from '#kernel/core/random.ts';
import { shuffle } from '#loadtest/statistics/permutation-test.ts';
import { NEIGHBOUR_MILLICORES, type QosClass, type Study } from './study.ts';

/** One execution of the study: a fresh process. */
export interface ExecutionCell {
  readonly node: string;
  readonly qos: QosClass;
  /** From 0; also the block it belongs to. */
  readonly execution: number;
}

/**
 * The order of the executions: randomised multiple interleaved trials. Block k holds execution k of
 * every node and class, in an order drawn for that block, so that a drift of the machine meets all of
 * them alike.
 *
 * Source: A. Abedi, T. Brecht, "Conducting Repeatable Experiments in Highly Variable Cloud Computing
 * Environments", ICPE 2017.
 */
export function executionOrder(study: Study): readonly ExecutionCell[] {
  return Array.from({ length: study.executions }, (_, execution) => {
    const block = study.nodes.flatMap(({ name }) =>
      study.qos.map((qos): ExecutionCell => ({ node: name, qos, execution })),
    );
    shuffle(block, randomStream(study.seed, `block ${execution}`));
    return block;
  }).flat();
}

export interface IterationStep {
  readonly demandMs: number;
  readonly iteration: number;
  readonly bursts: number;
}

/** What one execution burns: every iteration holds every demand once, in an order of its own. */
export function iterationOrder(study: Study, cell: ExecutionCell): readonly IterationStep[] {
  const { node, qos, execution } = cell;
  const random = randomStream(study.seed, `execution ${node} ${qos} ${execution}`);
  return Array.from({ length: study.iterations }, (_, iteration) => {
    const steps = study.demands.map(({ ms, bursts }) => ({ demandMs: ms, iteration, bursts }));
    shuffle(steps, random);
    return steps;
  }).flat();
}

/** Start of a process, its calibration, and the look at the node before it; measured, rounded up. */
const OVERHEAD_MS = 900;

/** How long a study takes on an idle machine at the reference rate; neighbours stretch it. */
export function estimateMs(study: Study): number {
  const executionMs = (neighbours: number, millicores: number): number => {
    // A best-effort probe gets what the neighbours leave; the estimate takes that for both classes.
    const share = Math.min(1, (millicores - neighbours * NEIGHBOUR_MILLICORES) / 1_000);
    return burnMs(study) / Math.max(0.05, share) + OVERHEAD_MS;
  };
  const round = study.nodes.reduce(
    (sum, { neighbours, millicores }) => sum + executionMs(neighbours, millicores),
    0,
  );
  return round * study.qos.length * study.executions;
}

/** CPU-ms that one execution burns beside its calibration. */
export const burnMs = ({ demands, iterations }: Study): number =>
  iterations * demands.reduce((sum, { ms, bursts }) => sum + ms * bursts, 0);

import { TachographError } from '#kernel/core/errors.ts';
import { MAX_BURST_MS } from '#kernel/demand/demand-limits.ts';

/** A pod's class as Kubernetes assigns it: no requests and limits at all, or requests = limits. */
export const QOS_CLASSES = ['best-effort', 'guaranteed'] as const;
export type QosClass = (typeof QOS_CLASSES)[number];

export interface StudyNode {
  readonly name: string;
  /** CPU the node has, 1,000 = one CPU. Locally a quota; on a cluster it is what it is. */
  readonly millicores: number;
  /** Busy neighbours during the node's executions, each asking for NEIGHBOUR_MILLICORES. */
  readonly neighbours: number;
}

export interface StudyDemand {
  readonly ms: number;
  /** Bursts in each iteration. */
  readonly bursts: number;
}

/**
 * A study of how much an emulated demand varies, as data: nodes × QoS × executions, each a fresh
 * process that calibrates and then burns demands × iterations × bursts in an order of its own.
 */
export interface Study {
  readonly seed: number;
  /** `work`: so many kernel steps. `cpuTime`: until the thread has consumed it. */
  readonly kind: 'work' | 'cpuTime';
  /** Of `work`: at the reference rate, or at what each execution's calibration says. */
  readonly rate: 'reference' | 'local';
  readonly nodes: readonly StudyNode[];
  readonly qos: readonly QosClass[];
  readonly demands: readonly StudyDemand[];
  readonly executions: number;
  readonly iterations: number;
  /** Requests = limits of the guaranteed class. */
  readonly limitMillicores: number;
  /** Two classes whose shift is surely within ± so much of the nominal demand count as equal. */
  readonly marginPct: number;
}

/** What a busy neighbour consumes when it is let, and requests. */
export const NEIGHBOUR_MILLICORES = 150;
/** Neighbours leave so much of a node: a best-effort probe has to end some time. */
const FREE_SHARE = 0.1;
export const MARGIN_PCT = 2;

/** Bursts of a demand in an iteration where nothing else is asked: as many as fit, at most four. */
const ITERATION_MS = 400;
const MAX_DEFAULT_BURSTS = 4;

export const LIMITS = {
  nodes: 100,
  demands: 10,
  executions: 100,
  iterations: 1_000,
  bursts: 1_000,
  neighbours: 100,
  millicores: 1_000_000,
  allBursts: 200_000,
} as const;

/** 50 ms: 4; 200 ms: 2; 1000 ms: 1. */
export const defaultBursts = (ms: number): number =>
  Math.min(MAX_DEFAULT_BURSTS, Math.max(1, Math.round(ITERATION_MS / ms)));

/** From 0 neighbours on the first node to `most` on the last, evenly: 5 nodes, 4 → 0 1 2 3 4. */
export const spreadNeighbours = (nodes: number, most: number): readonly number[] =>
  Array.from({ length: nodes }, (_, index) =>
    nodes === 1 ? most : Math.round((index * most) / (nodes - 1)),
  );

/** Throws STUDY_INVALID naming what is out of range. */
export function checkStudy(study: Study): Study {
  const { nodes, demands, qos } = study;
  inRange('nodes', nodes.length, 1, LIMITS.nodes);
  inRange('QoS classes', qos.length, 1, QOS_CLASSES.length);
  inRange('demands', demands.length, 1, LIMITS.demands);
  inRange('executions', study.executions, 1, LIMITS.executions);
  inRange('iterations', study.iterations, 1, LIMITS.iterations);
  unique(
    'node',
    nodes.map(({ name }) => name),
  );
  unique(
    'demand',
    demands.map(({ ms }) => `${ms} ms`),
  );
  unique('QoS class', qos);
  for (const { ms, bursts } of demands) {
    inRange('demand (ms)', ms, 0.01, MAX_BURST_MS);
    inRange('bursts', bursts, 1, LIMITS.bursts);
  }
  for (const node of nodes) {
    inRange(`millicores of ${node.name}`, node.millicores, 50, LIMITS.millicores);
    const room = Math.floor((node.millicores * (1 - FREE_SHARE)) / NEIGHBOUR_MILLICORES);
    inRange(`neighbours of ${node.name}`, node.neighbours, 0, Math.min(room, LIMITS.neighbours));
  }
  inRange('bursts of the study', burstCount(study), 1, LIMITS.allBursts);
  return study;
}

export const executionCount = ({ nodes, qos, executions }: Study): number =>
  nodes.length * qos.length * executions;

export const burstCount = (study: Study): number =>
  executionCount(study) *
  study.iterations *
  study.demands.reduce((sum, { bursts }) => sum + bursts, 0);

function inRange(what: string, value: number, min: number, max: number): void {
  if (value >= min && value <= max) return;
  throw new TachographError('STUDY_INVALID', { what, value, min, max });
}

function unique(what: string, names: readonly string[]): void {
  const again = names.find((name, index) => names.indexOf(name) !== index);
  if (again !== undefined) throw new TachographError('STUDY_REPEATS', { what, value: again });
}

import type { Decision } from '#infra/autoscaling/policy.ts';
import type { NodeConfig } from './node-config.ts';

export interface NodeObservation {
  readonly nodes: readonly {
    readonly name: string;
    /** False: it is being added. */
    readonly available: boolean;
    /** CPU used ÷ CPU share since the last look; null: nothing was measured. */
    readonly utilisation: number | null;
  }[];
}

export interface NodeState {
  /** Nodes asked for. */
  readonly nodes: number;
  readonly nextMs: number;
  /** Whether a decision was made: the periods are counted from the first one. */
  readonly begun: boolean;
}

export interface NodeDecision {
  /** Nodes to ask for; null: as before. */
  readonly nodes: number | null;
  /** Replicas of each Service; null: as before. */
  readonly replicas: Readonly<Record<string, number>> | null;
  readonly reason: string;
  readonly limits: readonly string[];
  readonly details: Decision['details'];
  readonly againAtMs: number | null;
}

export const startNodes = ({ minNodes }: NodeConfig, nowMs: number): NodeState => ({
  nodes: minNodes,
  nextMs: nowMs,
  begun: false,
});

/** Asked again soon while a node is being added: its replicas are to come when it does. */
const WATCH_MS = 500;

/**
 * Algorithm 1 of the study (design 7.3): in a loop, the average CPU utilisation over the available nodes;
 * above the upper threshold one more node is made available and every service gets a replica more; below
 * the lower threshold one node goes and every service one replica. Replicas = nodes × the service's ratio.
 *
 * A node that is being added counts neither as available nor may another be added meanwhile, and its
 * replicas are asked for when it is there. The average is over the nodes that were measured: one that has
 * just come is not taken for an idle one.
 */
export function decideNodes(
  config: NodeConfig,
  state: NodeState,
  { nodes }: NodeObservation,
  nowMs: number,
): { readonly state: NodeState; readonly decision: NodeDecision } {
  const available = nodes.filter((node) => node.available);
  // One that was asked for and does not stand in the list yet is being added too.
  const adding = Math.max(nodes.length, state.nodes) > available.length;
  const average = averageOf(available.flatMap(({ utilisation }) => utilisation ?? []));
  const due = nowMs >= state.nextMs;
  const { reason, wanted, limits } = due
    ? judge(config, state.nodes, average, adding)
    : { reason: 'between two periods', wanted: state.nodes, limits: [] };
  const next = due ? { nodes: wanted, nextMs: nextOf(config, state, nowMs), begun: true } : state;
  const there = Math.min(wanted, Math.max(available.length, config.minNodes));
  const waiting = adding || wanted > available.length;
  return {
    state: next,
    decision: {
      nodes: wanted,
      replicas: Object.fromEntries(
        config.services.map(({ name, replicasPerNode }) => [name, there * replicasPerNode]),
      ),
      reason,
      limits,
      details: { average, available: available.length, adding, asked: wanted },
      againAtMs: waiting ? Math.min(next.nextMs, nowMs + WATCH_MS) : next.nextMs,
    },
  };
}

const averageOf = (known: readonly number[]): number | null =>
  known.length === 0 ? null : known.reduce((sum, one) => sum + one, 0) / known.length;

/** The grid's next point after now: a late decision neither shifts the grid nor makes up for lost ones. */
function nextOf({ periodMs }: NodeConfig, { nextMs, begun }: NodeState, nowMs: number): number {
  const pointMs = begun ? nextMs : nowMs;
  return pointMs + (Math.floor((nowMs - pointMs) / periodMs) + 1) * periodMs;
}

interface Judgement {
  readonly reason: string;
  readonly wanted: number;
  readonly limits: readonly string[];
}

function judge(
  { upperThreshold, lowerThreshold, minNodes, maxNodes }: NodeConfig,
  nodes: number,
  average: number | null,
  adding: boolean,
): Judgement {
  const stay = (reason: string, ...limits: string[]): Judgement => ({
    reason,
    wanted: nodes,
    limits,
  });
  if (average === null) return stay('no node was measured yet');
  const shown = `average utilisation ${average.toFixed(2)}`;
  if (average > upperThreshold) {
    if (adding) return stay(`${shown}; a node is being added`, 'addNode');
    if (nodes >= maxNodes) return stay(`${shown}, but ${nodes} is the most`, 'maxNodes');
    const reason = `${shown} is above ${upperThreshold}: one node more`;
    return { reason, wanted: nodes + 1, limits: [] };
  }
  if (average < lowerThreshold) {
    if (nodes <= minNodes) return stay(`${shown}, but ${nodes} is the least`, 'minNodes');
    const reason = `${shown} is below ${lowerThreshold}: one node less`;
    return { reason, wanted: nodes - 1, limits: [] };
  }
  return stay(`${shown} is between the thresholds`);
}

/** A cluster as the proportional autoscaler sees it: only its size, never its load. */
export interface ClusterSize {
  readonly nodes: number;
  /** Whole CPUs, rounded up over all nodes. */
  readonly cores: number;
  /** Of those the ones that take new replicas. */
  readonly schedulableNodes: number;
  readonly schedulableCores: number;
}

interface Counted {
  readonly includeUnschedulableNodes: boolean;
}

export interface LinearConfig extends Counted {
  /** 0: cores do not count. */
  readonly coresPerReplica: number;
  /** 0: nodes do not count. */
  readonly nodesPerReplica: number;
  readonly min: number;
  /** null: none. */
  readonly max: number | null;
  /** At least two replicas where there are two nodes. */
  readonly preventSinglePointFailure: boolean;
}

/** From so many cores (or nodes) on so many replicas. */
export type LadderStep = readonly [from: number, replicas: number];

export interface LadderConfig extends Counted {
  /** Ascending. */
  readonly coresToReplicas: readonly LadderStep[];
  readonly nodesToReplicas: readonly LadderStep[];
}

/**
 * Source of both: kubernetes-sigs/cluster-proportional-autoscaler pkg/autoscaler/controller (1.10.3).
 */
const countedOf = (
  { includeUnschedulableNodes }: Counted,
  { nodes, cores, schedulableNodes, schedulableCores }: ClusterSize,
): { readonly nodes: number; readonly cores: number } =>
  includeUnschedulableNodes
    ? { nodes, cores }
    : { nodes: schedulableNodes, cores: schedulableCores };

/**
 * The greater of two shares: 8 cores at 2 each are 4, 16 nodes at 2.5 each 7 replicas, hence 7. The second
 * replica of preventSinglePointFailure comes after `max`: two nodes have two even where the most is 1.
 */
export function linearReplicas(config: LinearConfig, size: ClusterSize): number {
  const { nodes, cores } = countedOf(config, size);
  const ofNodes = share(config, nodes, config.nodesPerReplica);
  const least = config.preventSinglePointFailure && nodes > 1 ? 2 : 0;
  return Math.max(share(config, cores, config.coresPerReplica), ofNodes, least);
}

function share({ min, max }: LinearConfig, amount: number, perReplica: number): number {
  if (perReplica === 0) return 1;
  return Math.max(min, Math.min(max ?? Infinity, Math.ceil(amount / perReplica)));
}

/** The greater of two ladders; it may be none at all. */
export function ladderReplicas(config: LadderConfig, size: ClusterSize): number {
  const { nodes, cores } = countedOf(config, size);
  return Math.max(climb(config.coresToReplicas, cores), climb(config.nodesToReplicas, nodes));
}

/** The last step that is reached, or the first one below it: of [4, 2], [8, 5] 3 and 7 have 2, 8 has 5. */
function climb(steps: readonly LadderStep[], amount: number): number {
  const step = steps.findLast(([from]) => from <= amount) ?? steps[0];
  return step?.[1] ?? 0;
}

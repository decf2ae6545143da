/** Settings of the node-based policy; the study publishes the algorithm and none of the figures. */
export interface NodeConfig {
  /** Average utilisation of the available nodes above which one more is made available. */
  readonly upperThreshold: number;
  /** Below which one is taken away. */
  readonly lowerThreshold: number;
  readonly periodMs: number;
  readonly minNodes: number;
  readonly maxNodes: number;
  /** From the decision to the node's availability. */
  readonly addNodeMs: number;
  /** CPU share of each node, in thousandths of a CPU. */
  readonly cpuMillisPerNode: number;
  readonly services: readonly { readonly name: string; readonly replicasPerNode: number }[];
}

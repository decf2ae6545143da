/** A node as a scheduler sees it. */
export interface PlacementNode {
  readonly name: string;
  readonly allocatableMillis: number;
  /** CPU that the replicas there have requested. */
  readonly requestedMillis: number;
  /** Replicas there that request nothing. */
  readonly withoutRequest?: number;
}

/** What a replica without a request counts for where nodes are compared; it needs no room. */
const DEFAULT_REQUEST_MILLIS = 100;

/**
 * The node for a replica: of those with room for its request the least allocated one, by share; of equals
 * the first. Undefined: none has room, the replica stays pending.
 *
 * Source: kube-scheduler's NodeResourcesFit with the LeastAllocated strategy, on CPU alone, without its
 * rounding to whole per cent. Nodes of 500 m with 400 and 300 requested, request 150: only the second has
 * room (450 of 500).
 */
export function placeReplica(
  nodes: readonly PlacementNode[],
  requestMillis: number,
): string | undefined {
  let best: { readonly name: string; readonly share: number } | undefined;
  for (const { name, allocatableMillis, requestedMillis, withoutRequest = 0 } of nodes) {
    if (requestedMillis + requestMillis > allocatableMillis) continue;
    const unspoken = withoutRequest + (requestMillis === 0 ? 1 : 0);
    const counted = requestedMillis + requestMillis + unspoken * DEFAULT_REQUEST_MILLIS;
    const share = counted / allocatableMillis;
    if (best === undefined || share < best.share) best = { name, share };
  }
  return best?.name;
}

import type { NodeConfig } from '#infra/autoscaling/node/node-config.ts';
import type { NodeDecision, NodeObservation } from '#infra/autoscaling/node/node-policy.ts';
import type { Decision, Observation } from '#infra/autoscaling/policy.ts';

/**
 * What the local cluster writes down about itself while it runs: one NDJSON file for each kind, `atMs`
 * in milliseconds since the cluster's start. What a report shows of scaling is made from these alone.
 */

/** `decisions.ndjson`: first one `policy` row for each Service, then one row for each evaluation. */
export type DecisionRow =
  | {
      readonly kind: 'policy';
      readonly atMs: number;
      readonly service: string;
      readonly policy: string;
      /** The program of a policy of the user's own; null for those that come with the product. */
      readonly module: string | null;
      readonly periodMs: number;
      readonly config: unknown;
      readonly ready: number;
    }
  | {
      readonly kind: 'decision';
      readonly atMs: number;
      readonly service: string;
      readonly observation: Observation;
      readonly decision: Decision;
    }
  | {
      /** Of the node-based policy, which moves several Services together. */
      readonly kind: 'nodePolicy';
      readonly atMs: number;
      readonly config: NodeConfig;
    }
  | {
      readonly kind: 'nodeDecision';
      readonly atMs: number;
      readonly observation: NodeObservation;
      readonly decision: NodeDecision;
    };

export type ReplicaPhaseName = 'pending' | 'launching' | 'ready' | 'backoff' | 'draining' | 'gone';

/** `replicas.ndjson`: every change of a replica's phase. */
export interface ReplicaRow {
  readonly atMs: number;
  readonly service: string;
  readonly replica: string;
  readonly phase: ReplicaPhaseName;
  readonly node: string | null;
  readonly pid: number | null;
  /** Why, where it is not the policy's wish: `signal SIGKILL`, `memory limit`, `not ready within …`. */
  readonly why: string | null;
}

/**
 * `cold-starts.ndjson`: one row for each replica that became ready, written at its first response or at
 * its end. Times are moments, in ms since the cluster's start; null: it never came to that.
 */
export interface ColdStartRow {
  readonly service: string;
  readonly replica: string;
  /** Started because nothing was running: somebody may have waited for it. */
  readonly fromZero: boolean;
  /** The first request of this start reached the activator; null: nobody was waiting. */
  readonly requestedMs: number | null;
  readonly decidedMs: number;
  /** Waited for a free start slot until then (at most as many starts at once as cores). */
  readonly slotMs: number;
  /** The artificial delay of a container's start, after which the process is spawned. */
  readonly startDelayMs: number;
  readonly spawnedMs: number;
  /** The runtime has booted and begins to load the program. */
  readonly bootedMs: number | null;
  /** The program's modules are loaded. */
  readonly loadedMs: number | null;
  readonly listeningMs: number;
  readonly firstResponseMs: number | null;
}

/** `samples.ndjson`: one row a second for each Service. */
export interface SampleRow {
  readonly atMs: number;
  readonly service: string;
  /** Requests that arrived in that second. */
  readonly offeredPerS: number;
  /** Average number of requests inside (waiting and at work). */
  readonly concurrency: number;
  /** Waiting for a replica at the moment of the sample. */
  readonly queued: number;
  readonly desired: number;
  readonly ready: number;
  /** Launching, waiting for a slot or a node, or in back-off. */
  readonly starting: number;
  readonly draining: number;
  readonly panicking: boolean;
  readonly path: 'proxy' | 'serve';
  /** Events its Triggers have not finished; null: no Trigger. */
  readonly backlog: number | null;
  readonly replicas: readonly ReplicaUsage[];
}

export interface ReplicaUsage {
  readonly name: string;
  /** CPU time since its start. */
  readonly cpuMs: number;
  readonly memoryBytes: number;
}

/** `nodes.ndjson`: every decision of the node-based policy, and every node that came or went. */
export interface NodeRow {
  readonly atMs: number;
  readonly node: string;
  readonly phase: 'adding' | 'available' | 'removed';
}

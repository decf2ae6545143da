import type { ReplicaAddress } from '#infra/local/data-path/replica-address.ts';
import type { ColdStartRow, ReplicaRow } from '#infra/local/cluster-records.ts';
import type { ReplicaStart } from '#infra/local/tracing/replica-start.ts';
import type { Clock } from '#kernel/core/clock.ts';
import type { Log } from '#kernel/system/log.ts';
import type { LocalNodes } from './local-nodes.ts';
import type { ProbeSettings } from './liveness.ts';
import type { OrphanGuard } from './orphan-guard.ts';
import type { ReplicaGroups } from './replica-groups.ts';
import type { ChildHandle, ReplicaStatus } from './replica.ts';
import type { RestartPolicy } from './restart-policy.ts';
import type { ReadUsage } from './usage.ts';

/** What a replica asks of its node and may use at most; null: nothing is said. */
export interface ReplicaResources {
  readonly cpuRequestMillis: number | null;
  readonly cpuLimitMillis: number | null;
  readonly memoryRequestBytes: number | null;
  readonly memoryLimitBytes: number | null;
}

/** What the pool says to whoever starts a process. */
export interface Launch {
  /** `<service>-<n>`; no other replica ever had this name. */
  readonly replica: string;
  /** 1 for the first process of the replica, 2 after a crash, … */
  readonly attempt: number;
  /**
   * The smallest number that no other replica of the Service uses at the moment: for what should not
   * grow with every replica there ever was, as log files.
   */
  readonly place: number;
  /** Where it is to listen (LISTEN_SOCKET); null: on a port (PORT=0). */
  readonly socketPath: string | null;
  /** Files of groups that the process joins by its id. */
  readonly joinFiles: readonly string[];
}

/** One Service or Deployment whose replicas are processes. */
export interface PoolWorkload {
  readonly name: string;
  readonly start: (launch: Launch) => ChildHandle;
  /** Named in errors. */
  readonly logPath: string;
  /** Absent: nothing asked, nothing limited. */
  readonly resources?: ReplicaResources;
  /** CPU use in its observations is the average of so long. Absent: the pool's. */
  readonly metricWindowMs?: number;
  /** Draws the artificial delay of a container's start, in ms; absent: none. */
  readonly drawStartDelayMs?: () => number;
  /**
   * From the decision to remove a replica to SIGKILL, `beforeStop` included; after SIGTERM a process has
   * at least 2 s of it. Absent: the pool's `drainMs`.
   */
  readonly terminationGraceMs?: number;
}

export interface PoolOptions {
  readonly clock: Clock;
  /** Monotonic time of the cluster's start, the origin of all rows. Absent: now. */
  readonly originMs?: number;
  readonly log: Log;
  readonly policy?: RestartPolicy;
  /** A process that does not listen by then is ended and counts as crashed. */
  readonly readyWithinMs: number;
  /** From `stop` to SIGKILL, `beforeStop` included; and the grace time of workloads without their own. */
  readonly drainMs: number;
  /** At most so many processes start at once: as many as there are cores. */
  readonly startSlots: number;
  /** A start gives its slot back after so long even if it is not ready. Absent: 5 s. */
  readonly maxSlotMs?: number;
  /** CPU use in observations is the average of so long. Absent: 15 s, as metrics-server has it. */
  readonly metricWindowMs?: number;
  /** Folder for the replicas' sockets; absent, or too long a path: they listen on ports. */
  readonly socketFolder?: string;
  /** Weights, quotas and memory limits; absent: nothing is enforced but memory, by watching. */
  readonly groups?: ReplicaGroups;
  /** Absent: one node without bounds. */
  readonly nodes?: LocalNodes;
  /** Absent: a process that hangs outlives this one if this one is killed. */
  readonly guard?: Pick<OrphanGuard, 'add' | 'remove'>;
  /** Absent: a replica that hangs is not noticed. */
  readonly probe?: ProbeSettings;
  /** How CPU time and memory of processes are found out. Absent: /proc. */
  readonly readUsage?: ReadUsage;
  /** A replica takes requests at `address`, or (undefined) does not any more. */
  readonly onReplica: (
    service: string,
    replica: string,
    address: ReplicaAddress | undefined,
  ) => void;
  /**
   * A ready replica is to be removed: give it no new request, and resolve when it has none. Only then,
   * or when the grace time is over, `onReplica` says that it is gone, and it gets SIGTERM.
   */
  readonly beforeStop?: (service: string, replica: string) => Promise<void>;
  readonly onRow?: (row: ReplicaRow) => void;
  readonly onColdStart?: (row: ColdStartRow) => void;
  /** A process has become ready, the first of its replica or one after a crash. */
  readonly onStart?: (service: string, start: ReplicaStart) => void;
}

export interface ServiceStatus {
  readonly name: string;
  readonly replicas: readonly ReplicaStatus[];
}

/** Why replicas are asked for; in ms since the cluster's start. */
export interface ScaleCause {
  readonly decidedMs: number;
  /** The request that waits for it; null: none. */
  readonly requestedMs: number | null;
}

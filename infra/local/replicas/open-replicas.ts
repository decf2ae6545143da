import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { NodeRow } from '#infra/local/cluster-records.ts';
import { isAlive } from './is-alive.ts';
import { PROBE_SETTINGS } from './liveness.ts';
import { LocalNodes } from './local-nodes.ts';
import { OrphanGuard } from './orphan-guard.ts';
import type { PoolOptions } from './pool-workload.ts';
import { ProcessPool } from './process-pool.ts';
import { openReplicaGroups, type Enforcement } from './replica-groups.ts';

/** What of the surroundings a pool of real processes depends on. */
export interface ReplicasOptions extends Omit<
  PoolOptions,
  'groups' | 'nodes' | 'guard' | 'socketFolder' | 'startSlots'
> {
  readonly originMs: number;
  /** This process. */
  readonly pid: number;
  readonly platform: string;
  /** Of this machine: so many processes start at once. */
  readonly cores: number;
  /** Where a folder for sockets is made; its path should be short. */
  readonly tempDir: string;
  /** Absent: one node without bounds. */
  readonly nodes?: {
    readonly count: number;
    readonly cpuMillis: number;
    readonly addNodeMs: number;
    readonly onRow?: (row: NodeRow) => void;
  };
}

/** A pool with everything around it. */
export interface Replicas {
  readonly pool: ProcessPool;
  readonly enforcement: Enforcement;
  /** Drains what runs and removes everything that was made; may be called again. */
  stop(): Promise<void>;
}

/** A stage ends within 10 s of its parent's end, or hangs. */
const ORPHAN_GRACE_S = 12;

/** Opens groups, nodes, guard and the folder of sockets, and a pool that uses them. */
export async function openReplicas(options: ReplicasOptions): Promise<Replicas> {
  const { nodes: wanted, ...rest } = options;
  const { pid, platform, cores, tempDir, clock, log } = rest;
  const socketFolder = await mkdtemp(join(tempDir, 'tachograph-'));
  const groups = await openReplicaGroups({ pid, platform, cores, clock, isAlive });
  const folders = [...groups.folders, socketFolder];
  const guard = new OrphanGuard({ graceS: ORPHAN_GRACE_S, folders, log });
  const { originMs } = rest;
  const nodes = wanted && (await LocalNodes.open({ ...wanted, clock, originMs, log, groups }));
  const pool = new ProcessPool({
    probe: PROBE_SETTINGS,
    ...rest,
    startSlots: cores,
    socketFolder,
    groups,
    guard,
    ...(nodes && { nodes }),
  });
  const stop = async (): Promise<void> => {
    await pool.stopAll();
    nodes?.close();
    await groups.close();
    await guard.close();
    await rm(socketFolder, { recursive: true, force: true });
  };
  let stopped: Promise<void> | undefined;
  return { pool, enforcement: groups.enforcement, stop: () => (stopped ??= stop()) };
}

import type { ColdStartRow, ReplicaRow } from '#infra/local/cluster-records.ts';
import type { ReplicaAddress } from '#infra/local/data-path/replica-address.ts';
import { must } from '#kernel/core/assert.ts';
import { VirtualClock } from '#kernel/core/clock.ts';
import { silentLog } from '#kernel/system/log.ts';
import type { Launch, PoolOptions, PoolWorkload, ScaleCause } from '../pool-workload.ts';
import { ProcessPool } from '../process-pool.ts';
import type { ProcessUsage } from '../usage.ts';
import { FakeProcess, settled } from './fake-process.ts';

export const NOBODY_WAITS = { decidedMs: 0, requestedMs: null };

/** A pool of scripted processes in virtual time. */
export function fakePool(over: Partial<PoolOptions> = {}) {
  const clock = new VirtualClock();
  const children = new Map<string, FakeProcess>();
  const launches: Launch[] = [];
  const rows: ReplicaRow[] = [];
  const coldStarts: ColdStartRow[] = [];
  const addresses: (readonly [string, ReplicaAddress | undefined])[] = [];
  /** By process id. */
  const usage = new Map<number, ProcessUsage>();
  const pool = new ProcessPool({
    clock,
    log: silentLog,
    readyWithinMs: 5_000,
    drainMs: 3_000,
    startSlots: 64,
    readUsage: async (pid) => usage.get(pid),
    onReplica: (_service, replica, address) => addresses.push([replica, address]),
    onRow: (row) => rows.push(row),
    onColdStart: (row) => coldStarts.push(row),
    ...over,
  });
  let spawned = 0;
  const workload = (name: string, more: Partial<PoolWorkload> = {}): PoolWorkload => ({
    name,
    logPath: `/logs/${name}.log`,
    start: (launch) => {
      spawned += 1;
      const child = new FakeProcess(spawned);
      children.set(launch.replica, child);
      launches.push(launch);
      return child;
    },
    ...more,
  });
  const child = (replica: string): FakeProcess => must(children.get(replica), replica);
  const scale = async (
    service: string,
    replicas: number,
    cause: ScaleCause = NOBODY_WAITS,
  ): Promise<void> => {
    pool.scale(service, replicas, cause);
    await settled();
  };
  const listen = async (...replicas: string[]): Promise<void> => {
    for (const replica of replicas) child(replica).listen(child(replica).pid);
    await settled();
  };
  /** Every change of one replica, in order. */
  const story = (replica: string): string[] =>
    rows
      .filter((row) => row.replica === replica)
      .map(({ phase, why }) => (why === null ? phase : `${phase}: ${why}`));
  /** The replicas of a Service that are not gone. */
  const names = (service: string): string[] => pool.observe(service).map(({ name }) => name);
  return {
    pool,
    clock,
    workload,
    child,
    scale,
    listen,
    story,
    names,
    launches,
    rows,
    coldStarts,
    addresses,
    usage,
  };
}

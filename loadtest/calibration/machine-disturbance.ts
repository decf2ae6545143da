import { readFile } from 'node:fs/promises';

/** Counters of the machine and the own cgroup at one moment; null where there is none. */
export interface DisturbanceCounters {
  readonly throttledPeriods: number | null;
  readonly steal: StealCounter | null;
}

/** Ticks of all CPUs since boot. */
export interface StealCounter {
  readonly stealTicks: number;
  readonly allTicks: number;
}

/** `nr_throttled` of cpu.stat, which cgroup v1 and v2 share. */
export function parseThrottledPeriods(cpuStat: string): number | null {
  const found = /^nr_throttled (\d+)$/m.exec(cpuStat)?.[1];
  return found === undefined ? null : Number(found);
}

/**
 * First line of /proc/stat: user nice system idle iowait irq softirq steal guest guest_nice. Guest time
 * is part of user time already.
 */
export function parseSteal(procStat: string): StealCounter | null {
  const line = /^cpu +(.+)$/m.exec(procStat)?.[1];
  const ticks = line?.split(' ').map(Number).slice(0, 8) ?? [];
  const stealTicks = ticks[7];
  if (stealTicks === undefined || ticks.some((value) => !Number.isFinite(value))) return null;
  return { stealTicks, allTicks: ticks.reduce((sum, value) => sum + value, 0) };
}

/**
 * Files that may hold the own cgroup's cpu.stat, best first. A container that sees its cgroup as the
 * root is told a path of the host: hence the mount's own root after it.
 */
export function cpuStatPaths(procSelfCgroup: string): readonly string[] {
  const paths: string[] = [];
  for (const line of procSelfCgroup.split('\n')) {
    const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    if (controllers === undefined || path === undefined) continue;
    const own = path === '/' ? '' : path;
    if (controllers === '') paths.push(`/sys/fs/cgroup${own}/cpu.stat`, '/sys/fs/cgroup/cpu.stat');
    else if (controllers.split(',').includes('cpu')) {
      const mounts = [`/sys/fs/cgroup/${controllers}`, '/sys/fs/cgroup/cpu'];
      for (const mount of mounts) paths.push(`${mount}${own}/cpu.stat`, `${mount}/cpu.stat`);
    }
  }
  return [...new Set(paths)];
}

/** Asks the system; never fails where it has no such files. */
export async function readDisturbanceCounters(): Promise<DisturbanceCounters> {
  const cgroup = await textOf('/proc/self/cgroup');
  let throttledPeriods: number | null = null;
  for (const path of cgroup === null ? [] : cpuStatPaths(cgroup)) {
    const text = await textOf(path);
    throttledPeriods = text === null ? null : parseThrottledPeriods(text);
    if (throttledPeriods !== null) break;
  }
  const procStat = await textOf('/proc/stat');
  return { throttledPeriods, steal: procStat === null ? null : parseSteal(procStat) };
}

async function textOf(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error) return null;
    throw error;
  }
}

/** Periods throttled between two readings. */
export function throttledBetween(
  before: DisturbanceCounters,
  after: DisturbanceCounters,
): number | null {
  if (before.throttledPeriods === null || after.throttledPeriods === null) return null;
  return after.throttledPeriods - before.throttledPeriods;
}

/** Share of the machine's CPU time that the host took between two readings; 0 where no tick passed. */
export function stealShareBetween(
  before: DisturbanceCounters,
  after: DisturbanceCounters,
): number | null {
  if (before.steal === null || after.steal === null) return null;
  const allTicks = after.steal.allTicks - before.steal.allTicks;
  return allTicks <= 0 ? 0 : (after.steal.stealTicks - before.steal.stealTicks) / allTicks;
}

/** `Cpus_allowed_list` of /proc/self/status: `0-1`; null where there is none. */
export const parseCpusAllowed = (status: string): string | null =>
  /^Cpus_allowed_list:\s*(\S+)$/m.exec(status)?.[1] ?? null;

/** `some … total=µs` of a cpu.pressure page, in ms; null where there is none. */
export function parsePressureMs(page: string): number | null {
  const total = /^some .*total=(\d+)$/m.exec(page)?.[1];
  return total === undefined ? null : Number(total) / 1_000;
}

/** Where the own group's CPU pressure may be found: cgroup v2, else the machine's. */
export function pressurePaths(procSelfCgroup: string): readonly string[] {
  const own = /^0::(\/.*)$/m.exec(procSelfCgroup)?.[1];
  const group = own === undefined ? [] : [`/sys/fs/cgroup${own === '/' ? '' : own}/cpu.pressure`];
  return [...group, '/sys/fs/cgroup/cpu.pressure', '/proc/pressure/cpu'];
}

/**
 * CPU time of the machine that was not idle, in ticks, and the ticks there were: first line of
 * /proc/stat, user nice system idle iowait irq softirq steal. null where it cannot be read.
 */
export function parseMachineTicks(
  procStat: string,
): { readonly busy: number; readonly all: number } | null {
  const line = /^cpu +(.+)$/m.exec(procStat)?.[1];
  const ticks = line?.split(' ').slice(0, 8).map(Number) ?? [];
  if (ticks.length < 8 || ticks.some((value) => !Number.isFinite(value))) return null;
  const all = ticks.reduce((sum, value) => sum + value, 0);
  const [idle = 0, waiting = 0] = ticks.slice(3, 5);
  return { busy: all - idle - waiting, all };
}

/** First field of a schedstat page: ns on a CPU. 0 for a page that is not one. */
export const parseRunNs = (schedstat: string): number => {
  const field = Number(schedstat.split(' ')[0]);
  return Number.isFinite(field) ? field : 0;
};

import { processCpuMs } from './process-cpu.ts';
import type { ClusterStatus } from '#infra/local/cluster.ts';
import type { StageCounts, StageSummary } from '#loadtest/results/summary.ts';

/** The stages by the broker's and the operating system's count, taken while the cluster still runs. */
export async function stageSummaries(
  status: ClusterStatus,
): Promise<Readonly<Record<string, StageSummary>>> {
  const rows = status.services.map(async ({ name, replicas }) => {
    const pids = replicas.flatMap(({ pid }) => (pid === undefined ? [] : [pid]));
    const cpu = await Promise.all(pids.map((pid) => processCpuMs(pid)));
    return [name, { ...eventsOf(name, status), cpuMs: sumOrNull(cpu) }] as const;
  });
  return Object.fromEntries(await Promise.all(rows));
}

/** What happened between two counts, for a pipeline that had been running before. */
export const stagesSince = (
  before: Readonly<Record<string, StageSummary>>,
  after: Readonly<Record<string, StageSummary>>,
): Readonly<Record<string, StageSummary>> =>
  Object.fromEntries(
    Object.entries(after).map(([name, stage]) => {
      const earlier = before[name];
      const since = (field: keyof StageCounts): number | null => {
        const [from, to] = [earlier?.[field] ?? null, stage[field]];
        // Less than before: the process was replaced meanwhile, and its count is not known.
        return from === null || to === null || to < from ? null : to - from;
      };
      return [
        name,
        {
          delivered: since('delivered'),
          retried: since('retried'),
          deadLettered: since('deadLettered'),
          redelivered: since('redelivered'),
          cpuMs: since('cpuMs'),
        },
      ];
    }),
  );

/** Sums over the stage's Triggers, which are named `<event>-<stage>`; null where it has none. */
function eventsOf(stage: string, { eventing }: ClusterStatus): Omit<StageCounts, 'cpuMs'> {
  const triggers = Object.entries(eventing.triggers)
    .filter(([name]) => name.endsWith(`-${stage}`))
    .map(([, stats]) => stats);
  const sum = (count: (stats: (typeof triggers)[number]) => number): number | null =>
    triggers.length === 0 ? null : triggers.reduce((total, stats) => total + count(stats), 0);
  return {
    delivered: sum(({ delivered }) => delivered),
    retried: sum(({ retried }) => retried),
    deadLettered: sum(({ deadLettered, dropped }) => deadLettered + dropped),
    redelivered: sum(({ duplicates }) => duplicates),
  };
}

/** A replica that cannot be read makes the sum unknown, not smaller. */
function sumOrNull(values: readonly (number | null)[]): number | null {
  let sum = 0;
  for (const value of values) {
    if (value === null) return null;
    sum += value;
  }
  return values.length === 0 ? null : sum;
}

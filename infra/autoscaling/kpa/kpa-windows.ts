import type { Stat } from '#infra/autoscaling/policy.ts';
import type { KpaConfig } from './kpa-config.ts';
import { averageAt, emptyWindow, isEmptyAt, recordIn, weightedAverageAt } from './time-window.ts';
import type { TimeWindow } from './time-window.ts';

/**
 * What proxies reported, over the stable and the panic window. Both metrics are written together, so
 * that one of them says whether there are data at all.
 */
export interface KpaWindows {
  readonly concurrency: { readonly stable: TimeWindow; readonly panic: TimeWindow };
  readonly rps: { readonly stable: TimeWindow; readonly panic: TimeWindow };
}

/** 10 % of 60 s: 6 s; 10 % of 6 s: 0.6 s, rounded to 1 s, which is the least. */
export function panicWindowMs({ stableWindowMs, panicWindowPercentage }: KpaConfig): number {
  const seconds = Math.round((stableWindowMs * panicWindowPercentage) / 100 / 1_000);
  return Math.max(1, seconds) * 1_000;
}

export function emptyWindows(config: KpaConfig): KpaWindows {
  const pair = () => ({
    stable: emptyWindow(config.stableWindowMs),
    panic: emptyWindow(panicWindowMs(config)),
  });
  return { concurrency: pair(), rps: pair() };
}

/**
 * Adds a report. What came through the activator is counted there and by the queue-proxy: the proxied
 * part is taken off, so that both may be added up.
 *
 * Source: knative/serving pkg/autoscaler/metrics/collector.go, collection.record (98e5ef9).
 */
export function recordStat(windows: KpaWindows, stat: Stat): KpaWindows {
  const concurrency = stat.averageConcurrency - stat.averageProxiedConcurrency;
  const rps = stat.requestCount - stat.proxiedRequestCount;
  const both = (pair: KpaWindows['rps'], value: number): KpaWindows['rps'] => ({
    stable: recordIn(pair.stable, stat.atMs, value),
    panic: recordIn(pair.panic, stat.atMs, value),
  });
  return { concurrency: both(windows.concurrency, concurrency), rps: both(windows.rps, rps) };
}

/**
 * Averages over both windows; null: no data. Where nothing is scraped (the activator is always in the
 * path) an empty window is no lack of data but no load.
 */
export function averagesOf(
  windows: KpaWindows,
  { metric, aggregation, targetBurstCapacity }: KpaConfig,
  nowMs: number,
): { readonly stable: number; readonly panic: number } | null {
  const scraped = targetBurstCapacity !== -1;
  if (scraped && isEmptyAt(windows.concurrency.stable, nowMs)) return null;
  const average = aggregation === 'linear' ? averageAt : weightedAverageAt;
  const { stable, panic } = windows[metric];
  return { stable: average(stable, nowMs), panic: average(panic, nowMs) };
}

import { expect, test } from 'vitest';
import type { Stat } from '#infra/autoscaling/policy.ts';
import { averagesOf, emptyWindows, panicWindowMs, recordStat } from './kpa-windows.ts';
import { defaultConfig } from './testing/example-config.ts';

/** Restates knative/serving pkg/autoscaler/metrics/collector_test.go, commit 98e5ef90, by its tests' names. */
const NOW_MS = 1_000_000_300;
const RPS = { metric: 'rps' } as const;

const stat = (atMs: number, figures: Partial<Stat>): Stat => ({
  atMs,
  from: 'replica',
  averageConcurrency: 0,
  averageProxiedConcurrency: 0,
  requestCount: 0,
  proxiedRequestCount: 0,
  ...figures,
});

test('TestMetricCollectorNoDataError', () => {
  for (const config of [defaultConfig(), defaultConfig(RPS)]) {
    expect(averagesOf(emptyWindows(config), config, NOW_MS)).toBeNull();
  }
});

/** kpa_test.go, TestResolveScrapeTarget: a target burst capacity of −1 has nothing scraped. */
test('TestMetricCollectorNoScraper, TestResolveScrapeTarget: without scrapes nothing is no load', () => {
  const config = defaultConfig({ targetBurstCapacity: -1 });
  const rps = { ...config, ...RPS };
  let windows = emptyWindows(config);
  expect(averagesOf(windows, config, NOW_MS)).toEqual({ stable: 0, panic: 0 });
  expect(averagesOf(windows, rps, NOW_MS)).toEqual({ stable: 0, panic: 0 });
  windows = recordStat(windows, stat(NOW_MS, { averageConcurrency: 10, requestCount: 30 }));
  expect(averagesOf(windows, config, NOW_MS)).toEqual({ stable: 10, panic: 10 });
  expect(averagesOf(windows, rps, NOW_MS)).toEqual({ stable: 30, panic: 30 });
});

test('TestMetricCollectorRecord: the proxied part is taken off, what is outdated goes', () => {
  const config = defaultConfig();
  const outdated = stat(NOW_MS - 70_000, { averageConcurrency: 100, requestCount: 100 });
  const current = stat(NOW_MS, {
    averageConcurrency: 20,
    averageProxiedConcurrency: 10,
    requestCount: 30,
    proxiedRequestCount: 20,
  });
  const windows = [outdated, current].reduce(recordStat, emptyWindows(config));
  expect(averagesOf(windows, config, NOW_MS)).toEqual({ stable: 10, panic: 10 });
  expect(averagesOf(windows, { ...config, ...RPS }, NOW_MS)).toEqual({ stable: 10, panic: 10 });
});

test('TestMetricCollectorAggregate', () => {
  const config = defaultConfig({ stableWindowMs: 6_000, panicWindowPercentage: (2 / 6) * 100 });
  let windows = emptyWindows(config);
  for (let second = 0; second < 10; second++) {
    const load = { averageConcurrency: second + 5, requestCount: second + 5 };
    windows = recordStat(windows, stat(NOW_MS + second * 1_000, load));
  }
  // 9 … 14 over six seconds, 13 and 14 over two.
  expect(averagesOf(windows, config, NOW_MS + 9_000)).toEqual({ stable: 11.5, panic: 13.5 });
});

test('reports of several proxies in one second add up', () => {
  const config = defaultConfig();
  const windows = [
    stat(NOW_MS, { from: 'activator', averageConcurrency: 3 }),
    stat(NOW_MS + 100, { averageConcurrency: 3, averageProxiedConcurrency: 2.5 }),
    stat(NOW_MS + 200, { averageConcurrency: 1 }),
  ].reduce(recordStat, emptyWindows(config));
  expect(averagesOf(windows, config, NOW_MS + 300)).toEqual({ stable: 4.5, panic: 4.5 });
});

test('weighted-exponential weighs both windows by its own coefficients', () => {
  const config = defaultConfig({ aggregation: 'weighted-exponential' });
  const windows = recordStat(emptyWindows(config), stat(NOW_MS, { averageConcurrency: 10 }));
  const averages = averagesOf(windows, config, NOW_MS);
  // 0.2 for 60 buckets, 0.78456 for 6: a first second counts but for its weight.
  expect(averages?.stable).toBeCloseTo(2, 6);
  expect(averages?.panic).toBeCloseTo(7.8456, 3);
});

/** pkg/reconciler/autoscaling/resources/metric_test.go, TestMakeMetric. */
test.each([
  { name: 'defaults', windowS: 60, percentage: 10, wantS: 6 },
  { name: 'with too short panic window', windowS: 10, percentage: 10, wantS: 1 },
  { name: 'with longer stable window', windowS: 600, percentage: 10, wantS: 60 },
  { name: 'with longer panic window percentage', windowS: 60, percentage: 50, wantS: 30 },
  { name: 'with panic window percentage+rounding', windowS: 60, percentage: 51, wantS: 31 },
  // Not upstream's: less than half a second is still a bucket.
  { name: 'at least one bucket', windowS: 6, percentage: 1, wantS: 1 },
])('TestMakeMetric: $name', ({ windowS, percentage, wantS }) => {
  const config = defaultConfig({
    stableWindowMs: windowS * 1_000,
    panicWindowPercentage: percentage,
  });
  expect(panicWindowMs(config)).toBe(wantS * 1_000);
  expect(emptyWindows(config).concurrency.panic.buckets).toHaveLength(wantS);
});

import { expect, test } from 'vitest';
import { extrapolate, sampleSize } from './sample-size.ts';

/** knative/serving pkg/autoscaler/metrics/sample_size_test.go, commit 98e5ef90: TestPopulationMeanSampleSize. */
test.each([
  { replicas: 0, want: 0 },
  { replicas: 1, want: 1 },
  { replicas: 2, want: 2 },
  { replicas: 5, want: 4 },
  { replicas: 10, want: 7 },
  { replicas: 100, want: 14 },
  { replicas: 1000, want: 16 },
  // Not in upstream's table: both sides of the edge, and what no cluster has.
  { replicas: 3, want: 3 },
  { replicas: 4, want: 4 },
  { replicas: -1, want: 0 },
])('TestPopulationMeanSampleSize: $replicas replicas → $want', ({ replicas, want }) => {
  expect(sampleSize(replicas)).toBe(want);
});

const stat = (concurrency: number, proxied: number, requests: number, proxiedRequests: number) => ({
  averageConcurrency: concurrency,
  averageProxiedConcurrency: proxied,
  requestCount: requests,
  proxiedRequestCount: proxiedRequests,
});

/** stats_scraper_test.go, checkBaseStat: three pods, all of them asked. */
test('TestScrapeReportStatWhenAllCallsSucceed', () => {
  const sample = [stat(3, 2, 5, 4), stat(5, 4, 7, 6), stat(3, 2, 5, 4)];
  expect(extrapolate(sample, 3)).toEqual(stat(11, 8, 17, 14));
});

/** stats_scraper_test.go, testStatsWithTime: pod i has (i + 1) × 2 inside; which are asked is the test's. */
test.each([
  { name: 'TestScrapeAllPodsYoungPods', asked: [2, 4, 6, 8], replicas: 4, want: 20 },
  { name: 'TestScrapeAllPodsOldPods', asked: [2, 4, 6, 8, 10], replicas: 6, want: 36 },
  {
    name: 'TestScrapeSomePodsOldPods',
    asked: [8, 10, 12, 14, 16, 18, 20],
    replicas: 11,
    want: 154,
  },
])('$name', ({ asked, replicas, want }) => {
  expect(asked).toHaveLength(sampleSize(replicas));
  const sample = asked.map((inside) => stat(inside, 3, 2, 4));
  expect(extrapolate(sample, replicas)?.averageConcurrency).toBe(want);
});

test('TestScrapeDoNotScrapeIfNoPodsFound', () => {
  expect(extrapolate([], 0)).toBeUndefined();
});

import { expect, test } from 'vitest';
import { ActivatorMeter } from './activator-meter.ts';
import { ConcurrencyMeter, type ConcurrencyReport } from './concurrency-meter.ts';

type Event = readonly [kind: 'in' | 'out' | 'inP' | 'outP' | 'report', atMs: number];
/** Average, count; proxied average, proxied count. */
type Expected = readonly [number, number] | readonly [number, number, number, number];

const asReport = ([
  average,
  count,
  proxied = 0,
  proxiedCount = 0,
]: Expected): ConcurrencyReport => ({
  averageConcurrency: average,
  averageProxiedConcurrency: proxied,
  requestCount: count,
  proxiedRequestCount: proxiedCount,
});

/** TestRequestStats, knative/networking pkg/http/stats/request_test.go, commit e28834cc. */
test.each<readonly [name: string, events: readonly Event[], expected: readonly Expected[]]>([
  ['no requests', [['report', 1000]], [[0, 0]]],
  [
    '1 request, entire time',
    [
      ['in', 0],
      ['out', 1000],
      ['report', 1000],
    ],
    [[1, 1]],
  ],
  [
    '1 request, half the time',
    [
      ['in', 0],
      ['out', 3000],
      ['report', 6000],
    ],
    [[0.5, 1]],
  ],
  [
    'very short request',
    [
      ['in', 0],
      ['out', 1],
      ['report', 1000],
    ],
    [[0.001, 1]],
  ],
  [
    '3 requests, fill entire time',
    [
      ['in', 0],
      ['out', 300],
      ['in', 300],
      ['out', 600],
      ['in', 600],
      ['out', 1000],
      ['report', 1000],
    ],
    [[1, 3]],
  ],
  [
    'interleaved requests',
    [
      ['in', 0],
      ['in', 100],
      ['out', 600],
      ['out', 1000],
      ['report', 1000],
    ],
    [[1.5, 2]],
  ],
  [
    'request across reporting',
    [
      ['in', 0],
      ['report', 1000],
      ['out', 1500],
      ['report', 2000],
    ],
    [
      [1, 1],
      [0.5, 0],
    ],
  ],
  [
    'request across multiple reportings',
    [
      ['in', 0],
      ['report', 1000],
      ['report', 2000],
      ['report', 3000],
      ['out', 3500],
      ['report', 4000],
    ],
    [
      [1, 1],
      [1, 0],
      [1, 0],
      [0.5, 0],
    ],
  ],
  [
    '1 request, proxied, entire time',
    [
      ['inP', 0],
      ['outP', 1000],
      ['report', 1000],
    ],
    [[1, 1, 1, 1]],
  ],
  [
    '1 request, proxied, half the time',
    [
      ['inP', 0],
      ['outP', 500],
      ['report', 1000],
    ],
    [[0.5, 1, 0.5, 1]],
  ],
  [
    '2 requests, proxied and non proxied',
    [
      ['inP', 0],
      ['in', 0],
      ['outP', 500],
      ['out', 1000],
      ['report', 1000],
    ],
    [[1.5, 2, 0.5, 1]],
  ],
  [
    "ignore 'negative' requests",
    [
      ['in', 500],
      ['in', 499],
      ['out', 1000],
      ['out', 999],
      ['report', 1000],
    ],
    [[1, 2]],
  ],
])('ConcurrencyMeter, TestRequestStats: %s', (_, events, expected) => {
  const meter = new ConcurrencyMeter(0);
  const reports: ConcurrencyReport[] = [];
  for (const [kind, atMs] of events) {
    if (kind === 'report') reports.push(meter.report(atMs));
    else if (kind.startsWith('in')) meter.enter(atMs, kind === 'inP');
    else meter.leave(atMs, kind === 'outP');
  }
  expect(reports).toEqual(expected.map(asReport));
});

/**
 * TestStats and TestConcurrencyReporterRun, knative/serving
 * pkg/activator/handler/concurrency_reporter_test.go, commit 98e5ef90; revisions do not touch each other,
 * so that each is a meter of its own here.
 */
test.each<readonly [name: string, events: readonly Event[], expected: readonly Expected[]]>([
  ['scale-from-zero sends stat', [['in', 0]], [[1, 1]]],
  [
    "in'n out",
    [
      ['in', 0],
      ['out', 1],
      ['in', 1],
      ['out', 2],
      ['report', 2],
    ],
    [
      [1, 1],
      [0, 1],
    ],
  ],
  [
    'scale to two',
    [
      ['in', 0],
      ['in', 0],
      ['report', 1],
      ['report', 2],
    ],
    // Minus the one that was told at once; then both, and no new ones.
    [
      [1, 1],
      [1, 1],
      [2, 0],
    ],
  ],
  [
    'scale-from-zero after tick sends stat',
    [
      ['in', 0],
      ['out', 1],
      ['report', 1],
      ['report', 2],
      ['in', 3],
    ],
    [
      [1, 1],
      [0, 0],
      [0, 0],
      [1, 1],
    ],
  ],
  [
    'multiple revisions tick',
    [
      ['in', 0],
      ['report', 0],
    ],
    [
      [1, 1],
      [0, 0],
    ],
  ],
  [
    'interleaved requests',
    [
      ['in', 0],
      ['in', 0],
      ['out', 1],
      ['out', 2],
      ['report', 0],
    ],
    [
      [1, 1],
      [0.5, 1],
    ],
  ],
  [
    'TestConcurrencyReporterRun',
    [
      ['in', 0],
      ['in', 0],
      ['in', 0],
      ['report', 1],
      ['report', 2],
    ],
    [
      [1, 1],
      [2, 2],
      [3, 0],
    ],
  ],
  [
    'TestConcurrencyReporterHandler: no time between in and out',
    [
      ['in', 0],
      ['out', 0],
      ['in', 0],
      ['out', 0],
      ['in', 0],
      ['out', 0],
      ['report', 0],
    ],
    [
      [1, 1],
      [0, 2],
    ],
  ],
])('ActivatorMeter, TestStats: %s', (_, events, expected) => {
  const meter = new ActivatorMeter();
  const reports: ConcurrencyReport[] = [];
  for (const [kind, atMs] of events) {
    if (kind === 'out') meter.leave(atMs);
    const report =
      kind === 'in' ? meter.enter(atMs) : kind === 'report' ? meter.report(atMs) : undefined;
    if (report !== undefined) reports.push(report);
  }
  expect(reports).toEqual(expected.map(asReport));
});

import { expect, test } from 'vitest';
import type { ClusterStatus } from '#infra/local/cluster.ts';
import { watchLines } from './watch-lines.ts';

const status = {
  gatewayUrl: 'http://127.0.0.1:8080',
  scaling: {
    'data-processing': {
      policy: 'kpa',
      desired: 4,
      ready: 2,
      starting: 2,
      draining: 0,
      offeredPerS: 20,
      concurrency: 3.25,
      queued: 11,
      backlog: 40,
      panicking: true,
      path: 'proxy',
      reason: `${'x'.repeat(60)} ${'y'.repeat(60)} verdict`,
    },
    campaign: {
      policy: 'kpa',
      desired: 0,
      ready: 0,
      starting: 0,
      draining: 0,
      offeredPerS: 0,
      concurrency: 0,
      queued: 0,
      backlog: null,
      panicking: false,
      path: 'serve',
      reason: '',
    },
  },
} as unknown as ClusterStatus;

test('watchLines is a table of the stages with the reasons below', () => {
  expect(watchLines(status, '12:00:00')).toEqual([
    '12:00:00  http://127.0.0.1:8080',
    '',
    'stage            policy     ready  wanted  starting  draining  req/s  inside  queued  backlog       path',
    'data-processing  kpa PANIC      2       4         2         0     20     3.3      11       40  activator',
    'campaign         kpa            0       0         0         0      0     0.0       0        -     direct',
    '',
    'Last decisions',
    `  data-processing: ${'x'.repeat(60)}`,
    `      ${'y'.repeat(60)} verdict`,
  ]);
});

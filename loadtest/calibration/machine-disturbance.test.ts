import { expect, test } from 'vitest';
import {
  cpuStatPaths,
  parseSteal,
  parseThrottledPeriods,
  readDisturbanceCounters,
  stealShareBetween,
  throttledBetween,
} from './machine-disturbance.ts';

test('parseThrottledPeriods of cgroup v1 and v2: nr_throttled', () => {
  const v1 = 'nr_periods 12\nnr_throttled 5\nthrottled_time 901\n';
  const v2 = 'usage_usec 9\nuser_usec 5\nnr_periods 12\nnr_throttled 6\nthrottled_usec 901\n';
  expect(parseThrottledPeriods(v1)).toBe(5);
  expect(parseThrottledPeriods(v2)).toBe(6);
});

test('parseThrottledPeriods of a group without quota accounting: null', () => {
  expect(parseThrottledPeriods('usage_usec 9\n')).toBeNull();
});

test('parseSteal: the eighth number, over the first eight', () => {
  const text = 'cpu  10 20 30 40 50 60 70 80 5 6\ncpu0 1 2 3 4 5 6 7 8 0 0\n';
  expect(parseSteal(text)).toEqual({ stealTicks: 80, allTicks: 360 });
});

test('parseSteal of a kernel that does not count steal: null', () => {
  expect(parseSteal('cpu  10 20 30 40\n')).toBeNull();
  expect(parseSteal('')).toBeNull();
});

test('cpuStatPaths: the own group of v1 and v2, then the root of the mount', () => {
  expect(cpuStatPaths('4:memory:/a\n2:cpu,cpuacct:/pod/one\n0::/\n')).toEqual([
    '/sys/fs/cgroup/cpu,cpuacct/pod/one/cpu.stat',
    '/sys/fs/cgroup/cpu,cpuacct/cpu.stat',
    '/sys/fs/cgroup/cpu/pod/one/cpu.stat',
    '/sys/fs/cgroup/cpu/cpu.stat',
    '/sys/fs/cgroup/cpu.stat',
  ]);
  expect(cpuStatPaths('0::/pod/one\n')).toEqual([
    '/sys/fs/cgroup/pod/one/cpu.stat',
    '/sys/fs/cgroup/cpu.stat',
  ]);
});

test('throttledBetween and stealShareBetween with one side unknown: null', () => {
  const known = { throttledPeriods: 3, steal: { stealTicks: 1, allTicks: 10 } };
  const unknown = { throttledPeriods: null, steal: null };
  expect(throttledBetween(unknown, known)).toBeNull();
  expect(stealShareBetween(known, unknown)).toBeNull();
});

test('stealShareBetween where no tick passed: 0', () => {
  const reading = { throttledPeriods: 3, steal: { stealTicks: 1, allTicks: 10 } };
  expect(stealShareBetween(reading, reading)).toBe(0);
});

test('readDisturbanceCounters on this machine: counters or null, never an error', async () => {
  const { throttledPeriods, steal } = await readDisturbanceCounters();
  expect(throttledPeriods ?? 0).toBeGreaterThanOrEqual(0);
  expect(steal?.allTicks ?? 1).toBeGreaterThan(0);
});

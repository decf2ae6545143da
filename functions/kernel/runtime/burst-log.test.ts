import { expect, test } from 'vitest';
import { LogHistogram } from '../core/log-histogram.ts';
import { BurstLog, MAX_BURST_ROWS } from './burst-log.ts';
import { exampleReport } from './testing/fake-demand.ts';

const numbers = (log: BurstLog, after: number): number[] => log.after(after).map(({ n }) => n);

test('after + a number: the newer rows in their order, numbered from 1', () => {
  const log = new BurstLog();
  expect(log.after(0)).toEqual([]);
  log.note([exampleReport(), exampleReport({ place: 'after' })], 1_000);
  log.note([exampleReport({ nominal: 7 })], 2_000);
  expect(numbers(log, 0)).toEqual([1, 2, 3]);
  expect(numbers(log, 2)).toEqual([3]);
  expect(numbers(log, 3)).toEqual([]);
  expect(log.after(2)[0]).toMatchObject({ n: 3, endedAtMs: 2_000, nominal: 7 });
});

test('after + more bursts than are kept: the oldest are gone, the numbers show it', () => {
  const log = new BurstLog(3);
  for (let count = 0; count < 5; count++) log.note([exampleReport()], count);
  expect(numbers(log, 0)).toEqual([3, 4, 5]);
  expect(numbers(log, 4)).toEqual([5]);
  expect(log.newest).toBe(5);
  expect(log.histograms()[0]?.bursts).toBe(5);
});

test('after at the default limit: that many rows', () => {
  const log = new BurstLog();
  for (let count = 0; count <= MAX_BURST_ROWS; count++) log.note([exampleReport()], count);
  expect(log.after(0)).toHaveLength(MAX_BURST_ROWS);
});

test('histograms: by kind and place, an aborted burst has no error', () => {
  const log = new BurstLog();
  log.note([exampleReport(), exampleReport({ cpuMs: 3, aborted: true, readyMs: null })], 0);
  log.note([exampleReport({ kind: 'delay', place: 'after', rate: null })], 0);
  const [cpu, delay] = log.histograms();
  expect(cpu).toMatchObject({
    kind: 'cpuTime',
    place: 'before',
    bursts: 2,
    aborted: 1,
    involuntarySwitches: 4,
    histograms: { cpuMs: { count: 2 }, cpuErrorMs: { count: 1, sum: 0.5 }, readyMs: { count: 1 } },
  });
  expect(delay).toMatchObject({
    kind: 'delay',
    place: 'after',
    histograms: { cpuErrorMs: { count: 0 }, rate: { count: 0 }, wallMs: { max: 60 } },
  });
});

test('histograms of two replicas add up', () => {
  const [one, other] = [new BurstLog(), new BurstLog()];
  one.note([exampleReport({ wallMs: 10 })], 0);
  other.note([exampleReport({ wallMs: 90 }), exampleReport({ wallMs: 90 })], 0);
  const sum = new LogHistogram();
  for (const { histograms } of [...one.histograms(), ...other.histograms()]) {
    sum.merge(histograms.wallMs);
  }
  expect(sum.toDocument()).toMatchObject({ count: 3, min: 10, max: 90 });
});

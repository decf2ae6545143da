import { expect, test } from 'vitest';
import { VirtualClock } from '#kernel/core/clock.ts';
import { BurstLog } from '#kernel/runtime/burst-log.ts';
import type { BurstsAnswer } from '#kernel/runtime/bursts.ts';
import { exampleReport } from '#kernel/runtime/testing/fake-demand.ts';
import { BurstCollector, type ReadBursts } from './burst-collector.ts';

const clock = new VirtualClock();

/** A stage with a demand at some replicas, of which those in `there` can be read. */
function stage(keptRows: number, ...instances: string[]) {
  const logs = instances.map(() => new BurstLog(keptRows));
  const there = new Set(instances);
  const answerOf = (instance: string, log: BurstLog, after: string): BurstsAnswer => {
    const known = after.split(',').find((entry) => entry.startsWith(`${instance}:`));
    return {
      demand: 'cpuTime:50ms@before',
      placement: 'inline',
      seed: 1,
      instance,
      queueLength: 0,
      newest: log.newest,
      histograms: [],
      rows: log.after(Number(known?.split(':')[1] ?? 0)),
    };
  };
  const read: ReadBursts = async (after) =>
    logs.flatMap((log, index) => {
      const instance = instances[index] ?? '';
      if (!there.has(instance)) return [];
      return [{ stage: 'export', answer: answerOf(instance, log, after('export')) }];
    });
  const burst = (replica: number, count: number): void => {
    for (let n = 0; n < count; n++) logs[replica]?.note([exampleReport()], clock.nowMs());
  };
  return { collector: new BurstCollector(read), burst, there };
}

const numbers = ({ records }: BurstCollector): string[] =>
  records.map(({ instance, n }) => `${instance} ${n}`);

test('BurstCollector takes what came after its begin, once', async () => {
  const { collector, burst } = stage(100, 'a');
  burst(0, 2);
  await collector.begin();
  burst(0, 2);
  await Promise.all([collector.poll(), collector.poll()]);
  burst(0, 1);
  await collector.poll();
  expect(numbers(collector)).toEqual(['a 3', 'a 4', 'a 5']);
  expect(collector.records[0]).toMatchObject({ stage: 'export', kind: 'cpuTime' });
  expect(collector.demands).toEqual({
    export: { demand: 'cpuTime:50ms@before', placement: 'inline', seed: 1 },
  });
  expect(collector.lost).toEqual({ export: 0 });
});

test('BurstCollector that reads too late: counts the rows that are gone', async () => {
  const { collector, burst } = stage(3, 'a');
  await collector.begin();
  burst(0, 5);
  await collector.poll();
  expect(numbers(collector)).toEqual(['a 3', 'a 4', 'a 5']);
  expect(collector.lost).toEqual({ export: 2 });
});

test('BurstCollector with several replicas: reads each on its own, also one that came later', async () => {
  const { collector, burst, there } = stage(100, 'a', 'b');
  there.delete('b');
  burst(0, 1);
  await collector.begin();
  burst(0, 1);
  burst(1, 2);
  await collector.poll();
  there.add('b');
  await collector.poll();
  there.delete('a');
  burst(1, 1);
  await collector.poll();
  expect(numbers(collector)).toEqual(['a 2', 'b 1', 'b 2', 'b 3']);
});

test('BurstCollector of a stage that was at zero: its demand is known with its first replica', async () => {
  const { collector, burst, there } = stage(100, 'a');
  there.clear();
  await collector.begin();
  await collector.poll();
  expect(collector.demands).toEqual({});
  there.add('a');
  burst(0, 1);
  await collector.poll();
  expect(numbers(collector)).toEqual(['a 1']);
  expect(collector.demands).toMatchObject({ export: { demand: 'cpuTime:50ms@before' } });
});

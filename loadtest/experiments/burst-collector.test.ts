import { expect, test } from 'vitest';
import { VirtualClock } from '#kernel/core/clock.ts';
import { BurstLog } from '#kernel/runtime/burst-log.ts';
import { exampleReport } from '#kernel/runtime/testing/fake-demand.ts';
import { BurstCollector, type ReadBursts } from './burst-collector.ts';

const clock = new VirtualClock();

/** A stage with a demand at some replicas, of which `turn` says who answers next. */
function stage(keptRows: number, ...instances: string[]) {
  const logs = instances.map(() => new BurstLog(keptRows));
  const answering = { turn: 0 };
  const read: ReadBursts = async (name, after) => {
    const log = logs[answering.turn];
    const instance = instances[answering.turn];
    if (name !== 'export' || log === undefined || instance === undefined) return undefined;
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
  const burst = (replica: number, count: number): void => {
    for (let n = 0; n < count; n++) logs[replica]?.note([exampleReport()], clock.nowMs());
  };
  return { collector: new BurstCollector(read), burst, answering };
}

const numbers = ({ records }: BurstCollector): string[] =>
  records.map(({ instance, n }) => `${instance} ${n}`);

test('BurstCollector takes what came after its begin, once', async () => {
  const { collector, burst } = stage(100, 'a');
  burst(0, 2);
  await collector.begin(['campaign', 'export']);
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
  await collector.begin(['export']);
  burst(0, 5);
  await collector.poll();
  expect(numbers(collector)).toEqual(['a 3', 'a 4', 'a 5']);
  expect(collector.lost).toEqual({ export: 2 });
});

test('BurstCollector with two replicas that answer in turn: reads each on its own', async () => {
  const { collector, burst, answering } = stage(100, 'a', 'b');
  await collector.begin(['export']);
  burst(0, 1);
  burst(1, 2);
  await collector.poll();
  answering.turn = 1;
  await collector.poll();
  burst(1, 1);
  await collector.poll();
  expect(numbers(collector)).toEqual(['a 1', 'b 1', 'b 2', 'b 3']);
});

import { expect, test } from 'vitest';
import { VirtualClock } from '../core/clock.ts';
import { randomStream } from '../core/random.ts';
import { nextTurn } from '../system/next-turn.ts';
import { systemClock } from '../system/system-clock.ts';
import { createDemandRunner, type DemandRunner, type Placement } from './demand-runner.ts';
import { parseDemands } from './parse-demand.ts';

const live = (): AbortSignal => new AbortController().signal;

const PLACEMENTS: readonly (readonly [name: string, Placement])[] = [
  ['inline', 'inline'],
  ['on workers', { workers: 2, maxQueue: 2 }],
];

const open = (
  text: string,
  placement: Placement = 'inline',
  localRate?: number,
): Promise<DemandRunner> =>
  createDemandRunner(parseDemands(text), {
    placement,
    random: randomStream(1, 'demand'),
    clock: systemClock,
    localRate,
  });

/** CPU time of all threads of this process. */
const processCpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

test('a runner without demands does nothing', async () => {
  const runner = await open('', { workers: 64, maxQueue: 1 });
  expect(runner.has('before')).toBe(false);
  expect(await runner.run('before', live())).toEqual([]);
  expect(runner.payloadBytes('before', 'k')).toHaveLength(0);
  expect(runner.queueLength).toBe(0);
  await runner.close();
});

test.each(PLACEMENTS)(
  'run %s executes the demands of the place in their order',
  async (name, placement) => {
    const text =
      'cpuTime:5ms@before work:2ms@before delay:0ms@before payload:7B@before work:1ms@after';
    const runner = await open(text, placement);
    const reports = await runner.run('before', live());
    expect(reports.map(({ kind }) => kind)).toEqual(['cpuTime', 'work', 'delay', 'payload']);
    const [cpuTime, work, , payload] = reports;
    const mode = name === 'inline' ? 'inline' : 'worker';
    expect(cpuTime).toMatchObject({ nominal: 5, mode, aborted: false });
    expect(Math.abs((cpuTime?.cpuMs ?? 0) - 5)).toBeLessThan(1);
    expect(work).toMatchObject({ nominal: 2, mode, steps: 1_600_000 });
    expect(payload).toMatchObject({ nominal: 7, cpuMs: 0 });
    expect(runner.has('after')).toBe(true);
    expect(runner.has('instead')).toBe(false);
    await runner.close();
  },
);

test('run with rate=local does the steps that this machine does in the time', async () => {
  const runner = await open('work:2ms@before;rate=local', 'inline', 500_000);
  expect((await runner.run('before', live()))[0]?.steps).toBe(1_000_000);
  await runner.close();
});

test('rate=local without a calibration is refused at the start, with the demand', async () => {
  await expect(open('delay:1ms@after work:50ms@after;rate=local')).rejects.toMatchObject({
    code: 'DEMAND_RATE_UNKNOWN',
    fields: { demand: 'work:50ms@after;rate=local' },
  });
});

test.each([
  ...PLACEMENTS.map(([name, placement]) => ['cpuTime:10s@instead', name, placement] as const),
  ...PLACEMENTS.map(([name, placement]) => ['work:10s@instead', name, placement] as const),
])('%s %s stops within a few ms of CPU time after an abort', async (text, name, placement) => {
  const runner = await open(`${text} delay:1ms@instead`, placement);
  const caller = new AbortController();
  const running = runner.run('instead', caller.signal);
  const turns = name === 'inline' ? 4 : 200;
  for (let turn = 0; turn < turns; turn++) await nextTurn();
  const before = processCpuMs();
  caller.abort();
  const reports = await running;
  expect(processCpuMs() - before).toBeLessThan(50);
  expect(reports).toMatchObject([{ nominal: 10_000, aborted: true }]);
  await runner.close();
});

test('the event loop goes on while a burst burns inline', async () => {
  const runner = await open('cpuTime:30ms@instead');
  const burst = { over: false };
  const running = runner.run('instead', live()).finally(() => void (burst.over = true));
  let turns = 0;
  for (; !burst.over; turns++) await nextTurn();
  expect(turns).toBeGreaterThanOrEqual(5);
  await running;
  await runner.close();
});

test('run refuses the burst above the queue, shows the queue, and serves the others', async () => {
  const runner = await open('cpuTime:5ms@before', { workers: 1, maxQueue: 2 });
  const running = [1, 2, 3].map(() => runner.run('before', live()));
  expect(runner.queueLength).toBe(2);
  await expect(runner.run('before', live())).rejects.toMatchObject({ code: 'DEMAND_QUEUE_FULL' });
  const reports = await Promise.all(running);
  expect(reports.flat().map(({ queuedMs }) => queuedMs > 1)).toEqual([false, true, true]);
  expect(runner.queueLength).toBe(0);
  await runner.close();
});

test('close ends a burst that a worker burns', async () => {
  const runner = await open('cpuTime:10s@before', { workers: 1, maxQueue: 1 });
  const running = runner.run('before', live());
  await runner.close();
  expect(await running).toMatchObject([{ aborted: true }]);
});

test('run of a delay waits in the given clock, and an abort ends it', async () => {
  const clock = new VirtualClock();
  const random = randomStream(1, 'demand');
  const demands = parseDemands('delay:20ms@after delay:5ms@after');
  const runner = await createDemandRunner(demands, { placement: 'inline', random, clock });
  const whole = runner.run('after', live());
  await clock.advance(20);
  await clock.advance(5);
  expect(await whole).toMatchObject([
    { nominal: 20, wallMs: 20, cpuMs: 0, aborted: false },
    { nominal: 5, wallMs: 5 },
  ]);
  const caller = new AbortController();
  const cut = runner.run('after', caller.signal);
  await clock.advance(3);
  caller.abort();
  expect(await cut).toMatchObject([{ nominal: 20, wallMs: 3, aborted: true }]);
  expect(await runner.run('after', caller.signal)).toEqual([]);
});

test('run of memory holds it and reports the CPU time of its first touch', async () => {
  const runner = await open('memory:4MiB/0ms@before');
  const [report] = await runner.run('before', live());
  expect(report).toMatchObject({ kind: 'memory', nominal: 4 * 1024 * 1024, mode: 'inline' });
  expect(report?.cpuMs).toBeGreaterThan(0);
  await runner.close();
});

test('the same seed asks for the same amounts', async () => {
  const nominal = async (): Promise<readonly number[]> => {
    const runner = await open(
      'work:exponential(mean=0.2ms)@before work:uniform(min=0ms,max=1ms)@before',
    );
    const reports = await runner.run('before', live());
    await runner.close();
    return reports.map((report) => report.nominal);
  };
  expect(await nominal()).toEqual(await nominal());
});

import { expect, test } from 'vitest';
import { selectCpuClock, tryClock, type ClockBench, type CpuClockKind } from './cpu-clock.ts';

/** One thread that runs without a break: 3 µs of CPU and wall time each spin. */
function thread(): ClockBench & { cpuMs: () => number; pass: (ms: number) => void } {
  let ms = 0;
  return {
    wallMs: () => ms,
    spin: () => void (ms += 0.003),
    cpuMs: () => ms,
    pass: (passed) => void (ms += passed),
  };
}

/** A clock over the thread's true CPU time; a reading takes 1 µs of it. */
const clockOf = (bench: ReturnType<typeof thread>, show: (ms: number) => number) => (): number => {
  bench.pass(0.001);
  return show(bench.cpuMs());
};

const stepped =
  (stepMs: number) =>
  (ms: number): number =>
    Math.floor(ms / stepMs) * stepMs;

test('tryClock accepts an exact clock and measures its step and its cost', () => {
  const bench = thread();
  const trial = tryClock(clockOf(bench, stepped(0.001)), bench);
  expect(trial).toMatchObject({ ok: true });
  expect(trial.ok && trial.readMs).toBeCloseTo(0.001, 4);
  expect(trial.ok && trial.stepUs).toBeCloseTo(1, 1);
  // A good clock costs a start 5 ms and its readings, not the whole 20 ms.
  expect(bench.cpuMs()).toBeLessThan(7);
});

test.each([
  ['the scheduler tick of 4 ms', stepped(4), 'coarse'],
  ['a tick of 10 ms', stepped(10), 'coarse'],
  ['steps of 60 µs', stepped(0.06), 'coarse'],
  ['no movement', () => 7, 'frozen'],
  ['movement backward', (ms: number) => ms - 4 * Math.floor(ms / 3), 'backward'],
  ['seconds for ms', (ms: number) => ms / 1000, 'wrong'],
  ['two threads at once', (ms: number) => ms * 2, 'wrong'],
])('tryClock finds out a clock with %s', (_, show, fault) => {
  const bench = thread();
  expect(tryClock(clockOf(bench, show), bench)).toMatchObject({ ok: false, fault });
});

test('tryClock forgives one disturbed attempt', () => {
  const bench = thread();
  let disturbed = true;
  const read = clockOf(bench, (ms) => {
    if (!disturbed || ms < 2) return ms;
    disturbed = false;
    return ms - 1;
  });
  expect(tryClock(read, bench)).toMatchObject({ ok: true });
});

const candidate = (kind: CpuClockKind, read: (() => number) | undefined) => ({
  kind,
  open: () => Promise.resolve(read),
});

test('selectCpuClock takes the first candidate that passes', async () => {
  const bench = thread();
  const clock = await selectCpuClock(
    [
      candidate('pair', clockOf(bench, stepped(4))),
      candidate('wasi', clockOf(bench, stepped(0.0004))),
      candidate('process', clockOf(bench, stepped(0.001))),
    ],
    bench,
  );
  expect(clock.kind).toBe('wasi');
});

test('selectCpuClock without a usable candidate says what is wrong with each', async () => {
  const bench = thread();
  const selecting = selectCpuClock(
    [
      candidate('pair', undefined),
      candidate(
        'wasi',
        clockOf(bench, () => 0),
      ),
    ],
    bench,
  );
  await expect(selecting).rejects.toMatchObject({ code: 'CPU_CLOCK_UNUSABLE' });
  await expect(selecting).rejects.toThrow(
    /pair: missing \(this runtime has none\); wasi: frozen \(did not move in 20\.\d ms of work\).*use work/,
  );
});

import { expect, test } from 'vitest';
import { EXAMPLE_KEY } from '#kernel/calibration/testing/example-calibration.ts';
import { VirtualClock } from '#kernel/core/clock.ts';
import { calibrate } from './calibrate.ts';
import { calibrationLines } from './calibration-lines.ts';
import type { DisturbanceCounters } from './machine-disturbance.ts';
import { type FakeMachine, fakeStand } from './testing/fake-stand.ts';

const counters = (throttledPeriods: number, stealTicks: number): DisturbanceCounters => ({
  throttledPeriods,
  steal: { stealTicks, allTicks: 1000 + throttledPeriods + stealTicks * 10 },
});

/** Calibrates a fake machine; the counters before and after. */
async function calibrateFake(
  machine: FakeMachine,
  [before, after] = [counters(0, 0), counters(0, 0)],
) {
  const readings = [before, after];
  const stand = fakeStand(machine);
  const calibration = await calibrate(stand, {
    key: EXAMPLE_KEY,
    clock: new VirtualClock(0),
    readCounters: async () => readings.shift() ?? counters(0, 0),
  });
  return { stand, calibration };
}

test('calibrate of a quiet machine: ok, with rate, spread, both verifications and the key', async () => {
  const { stand, calibration } = await calibrateFake({ stepsPerMs: () => 880_000 });
  expect(stand.asked).toEqual([
    'rate',
    '20 x 1 ms hybrid',
    '100 x 1 ms hybrid',
    '4 x 5 ms hybrid',
    '20 x 5 ms hybrid',
  ]);
  expect(calibration).toMatchObject({
    verdict: 'ok',
    reasons: [],
    rate: 1.1,
    spread: 1,
    key: EXAMPLE_KEY,
    clock: { kind: 'pair', stepUs: 1 },
    measuredAt: '1970-01-01T00:00:00.000Z',
    verify: [
      { nominalMs: 1, biasPct: 0, cvPct: 0, n: 100 },
      { nominalMs: 5, biasPct: 0, cvPct: 0, n: 20 },
    ],
  });
  expect(calibration.burnedCpuMs).toBeCloseTo(490, 0);
  // 100 bursts of 1 ms and 0.02 ms for asking, which is taken off.
  expect(calibration.verify[0]?.outsideBiasPct).toBeCloseTo(0, 9);
});

test('calibrate of a burner whose word is wrong: the outside clock says so', async () => {
  const stand = fakeStand({});
  const lying = {
    ...stand,
    series: async (series: Parameters<typeof stand.series>[0]) => {
      const { value, account } = await stand.series(series);
      return { value, account: { cpuMs: (account?.cpuMs ?? 0) + series.n * 0.01, readyMs: 0 } };
    },
  };
  const { verify } = await calibrate(lying, {
    key: EXAMPLE_KEY,
    clock: new VirtualClock(0),
    readCounters: async () => counters(0, 0),
  });
  expect(verify[0]).toMatchObject({ biasPct: 0, outsideBiasPct: expect.closeTo(1, 6) });
});

test('calibrate where a rate changes between pieces: noisy', async () => {
  const { calibration } = await calibrateFake({
    stepsPerMs: (piece) => (piece % 2 === 0 ? 800_000 : 500_000),
  });
  expect(calibration).toMatchObject({ verdict: 'noisy', spread: 1.6 });
  expect(calibration.reasons).toEqual([expect.stringContaining('1.60 times')]);
});

test('calibrate beside busy neighbours: noisy, because it waited for a CPU', async () => {
  const { calibration } = await calibrateFake({ readyPerMs: 1 });
  expect(calibration.disturbance.readyShare).toBeCloseTo(0.5, 2);
  expect(calibration.reasons).toEqual([expect.stringContaining('waited for a CPU 50.0 %')]);
});

test('calibrate under a quota: noisy, because it was throttled', async () => {
  const { calibration } = await calibrateFake({}, [counters(2, 0), counters(9, 0)]);
  expect(calibration.disturbance.throttledPeriods).toBe(7);
  expect(calibration.reasons).toEqual([expect.stringContaining('ran out in 7 periods')]);
});

test('calibrate on a machine whose host takes CPU time: noisy, because of steal', async () => {
  const { calibration } = await calibrateFake({}, [counters(0, 0), counters(0, 20)]);
  expect(calibration.disturbance.stealShare).toBeCloseTo(0.1);
  expect(calibration.reasons).toEqual([expect.stringContaining('10.0 % of the CPU time')]);
});

test('calibrate with a clock that stands still: coarse-clock, no rate, no verification', async () => {
  const { stand, calibration } = await calibrateFake({ stepsPerMs: () => Infinity });
  expect(stand.asked).toEqual(['rate']);
  expect(calibration).toMatchObject({
    verdict: 'coarse-clock',
    rate: null,
    spread: null,
    verify: [],
  });
});

test('calibrate without a usable clock: coarse-clock, and nothing is burned', async () => {
  const { stand, calibration } = await calibrateFake({ clockFault: 'pair: frozen' });
  expect(stand.asked).toEqual([]);
  expect(calibration).toMatchObject({
    verdict: 'coarse-clock',
    reasons: ['no CPU clock can be used here: pair: frozen'],
    rate: null,
    clock: { kind: 'none', stepUs: null },
  });
});

test('calibrate without /proc: ok, the outside is not known', async () => {
  const { calibration } = await calibrateFake({ withoutAccount: true });
  expect(calibration).toMatchObject({ verdict: 'ok', burnedCpuMs: null });
  expect(calibration.disturbance.readyShare).toBeNull();
  expect(calibration.verify[0]?.outsideBiasPct).toBeNull();
});

test('calibrationLines: verdict first, then its reasons; unknown is said', async () => {
  const { calibration } = await calibrateFake({ withoutAccount: true, burstMs: () => 1.1 });
  const lines = calibrationLines(calibration);
  expect(lines[0]).toBe('verdict      noisy');
  expect(lines[1]).toContain('bursts of 1 ms are off by 10.000 %');
  expect(lines).toContain('1 ms         bias +10.000 %, CV 0.000 %, n 100');
  expect(lines.at(-1)).toBe(
    'disturbance  waited for a CPU unknown, throttled periods 0, steal 0.0 %',
  );
});

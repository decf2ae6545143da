import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fitRate } from './fit-rate.ts';
import { measureRate, PIECES, WARM_MS } from './measure-rate.ts';

/** A CPU of constant speed whose clock shows whole `stepMs` only. */
function fakeBench(stepsPerMs: number, stepMs = 0) {
  let cpuMs = 0;
  return {
    run: (steps: number) => void (cpuMs += steps / stepsPerMs),
    cpuMs: () => (stepMs === 0 ? cpuMs : Math.floor(cpuMs / stepMs) * stepMs),
    burnedMs: () => cpuMs,
  };
}

test('measureRate and fitRate on any steady CPU: its rate, no spread', () => {
  fc.assert(
    fc.property(fc.integer({ min: 100_000, max: 3_000_000 }), (stepsPerMs) => {
      const fit = fitRate(measureRate(fakeBench(stepsPerMs)));
      expect(fit?.stepsPerMs).toBeCloseTo(stepsPerMs, -1);
      expect(fit?.spread).toBeCloseTo(1, 6);
    }),
  );
});

test('measureRate: warm-up and pieces take a quarter of a second of CPU time', () => {
  const bench = fakeBench(800_000);
  expect(measureRate(bench)).toHaveLength(PIECES);
  expect(bench.burnedMs()).toBeGreaterThan(WARM_MS + 99);
  expect(bench.burnedMs()).toBeLessThan(WARM_MS + 106);
});

test('measureRate on a frozen clock: ends, and no rate is fitted', () => {
  const bench = fakeBench(800_000, Infinity);
  const frozen = { run: bench.run, cpuMs: () => 0 };
  expect(fitRate(measureRate(frozen))).toBeNull();
  expect(bench.burnedMs()).toBeLessThan(WARM_MS + 106);
});

test('fitRate with a clock that moves once a tick of 4 ms: null', () => {
  expect(fitRate(measureRate(fakeBench(800_000, 4)))).toBeNull();
});

test('fitRate with one piece in ten disturbed: the median rate', () => {
  const pieces = Array.from({ length: 100 }, (_, index) => ({
    steps: 800_000,
    cpuMs: index % 10 === 0 ? 3 : 1,
  }));
  expect(fitRate(pieces)?.stepsPerMs).toBe(800_000);
});

test('fitRate with pieces at two speeds: a spread that shows it', () => {
  const pieces = Array.from({ length: 100 }, (_, index) => ({
    steps: 800_000,
    cpuMs: index % 2 === 0 ? 1.5 : 1,
  }));
  expect(fitRate(pieces)?.spread).toBeCloseTo(1.5);
});

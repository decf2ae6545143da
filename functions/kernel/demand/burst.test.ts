import fc from 'fast-check';
import { expect, test } from 'vitest';
import { burnCpuTime, burnWork, type Engine } from './burst.ts';
import { EVEN, fakeEngine, type FakeEngine, type FakeMachine } from './testing/fake-engine.ts';

const never = (): boolean => false;

/** Burns `ms` and returns the true CPU time of it, readings included. */
function consumed({ engine, cpuMs }: FakeEngine, ms: number): number {
  const before = cpuMs();
  burnCpuTime(engine, engine.clock.nowMs() + ms, never);
  return cpuMs() - before;
}

test.each([0.05, 0.2, 1, 5, 50, 1000, 60_000])(
  'burnCpuTime consumes %d ms to within 4 µs on a cold engine',
  (ms) => {
    expect(Math.abs(consumed(fakeEngine(EVEN), ms) - ms)).toBeLessThan(0.004);
  },
);

test.each([1 / 50, 1 / 6, 0.8, 1.3, 10])(
  'burnCpuTime is exact from its first burst on a machine of %d times the reference speed',
  (factor) => {
    const machine = fakeEngine({ ...EVEN, stepsPerMs: () => 800_000 * factor });
    for (const ms of [1.5, 5, 50]) {
      expect(Math.abs(consumed(machine, ms) - ms)).toBeLessThan(0.006);
    }
  },
);

test('burnCpuTime holds its CPU time while the speed jumps by a third from piece to piece', () => {
  const speeds = fc.array(fc.double({ min: 0.85, max: 1.15, noNaN: true }), { minLength: 5 });
  fc.assert(
    fc.property(speeds, fc.double({ min: 0.5, max: 80, noNaN: true }), (factors, ms) => {
      const stepsPerMs = (piece: number): number =>
        800_000 * (factors[piece % factors.length] ?? 1);
      // Nothing corrects the last piece of up to 20 µs: a third of it, and three readings of the clock.
      expect(Math.abs(consumed(fakeEngine({ ...EVEN, stepsPerMs }), ms) - ms)).toBeLessThan(0.01);
    }),
  );
});

test('burnCpuTime looks at the abort at least once a ms of CPU time', () => {
  const machine = fakeEngine(EVEN);
  consumed(machine, 200);
  expect(Math.max(...machine.pieces)).toBeLessThanOrEqual(1.05);
});

test('burnCpuTime reads the clock a few times a burst and once a ms, not more', () => {
  const machine = fakeEngine(EVEN);
  consumed(machine, 5);
  const cold = machine.pieces.length;
  consumed(machine, 100);
  expect(machine.pieces.length - cold).toBeLessThan(100 + 10);
});

test('burnCpuTime on a clock that moves once in 4 ms overshoots by up to that: the trap its test is for', () => {
  const machine = fakeEngine({ ...EVEN, stepMs: 4 });
  expect(consumed(machine, 1)).toBeGreaterThan(2);
});

function abortingAfter(pieces: number): { machine: FakeEngine; isAborted: () => boolean } {
  let aborted = false;
  const machine = fakeEngine({ ...EVEN, onPiece: (count) => void (aborted = count >= pieces) });
  return { machine, isAborted: () => aborted };
}

test.each([
  ['burnCpuTime', (engine: Engine, stop: () => boolean) => burnCpuTime(engine, 10_000, stop)],
  [
    'burnWork',
    (engine: Engine, stop: () => boolean) =>
      burnWork(engine, 8_000_000_000, Number.POSITIVE_INFINITY, stop),
  ],
])('%s of 10 s ends with the piece in which the abort came', (_, burn) => {
  const { machine, isAborted } = abortingAfter(20);
  const stretch = burn(machine.engine, isAborted);
  expect(machine.pieces).toHaveLength(20);
  expect(stretch.aborted).toBe(true);
  expect(machine.cpuMs()).toBeLessThan(20);
});

test('burnCpuTime that is aborted before it begins burns nothing', () => {
  const { engine, pieces } = fakeEngine(EVEN);
  expect(burnCpuTime(engine, 10, () => true)).toMatchObject({ steps: 0, aborted: true });
  expect(pieces).toEqual([]);
});

test('burnCpuTime ends with an error when the clock stops meanwhile', () => {
  const { engine, pieces } = fakeEngine({ ...EVEN, stepMs: Number.MAX_SAFE_INTEGER });
  expect(() => burnCpuTime(engine, 10, never)).toThrow('it stood still during a burst');
  expect(pieces).toHaveLength(1000);
});

test.each([0, 1, 799_999, 4_000_000, 1_234_567_890])(
  'burnWork runs %d steps exactly, at any speed',
  (steps) => {
    for (const factor of [0.2, 1, 5]) {
      const stepsPerMs = (): number => 800_000 * factor;
      const { engine } = fakeEngine({ ...EVEN, stepsPerMs });
      const stretch = burnWork(engine, steps, Number.POSITIVE_INFINITY, never);
      expect(stretch.steps).toBe(steps);
      expect(stretch.kernelMs).toBeCloseTo(steps / stepsPerMs(), -2);
    }
  },
);

test('burnWork pauses at the given reading of the clock, at most one piece late', () => {
  const { engine, cpuMs } = fakeEngine(EVEN);
  const stretch = burnWork(engine, 800_000_000, 5, never);
  expect(stretch.aborted).toBe(false);
  expect(cpuMs()).toBeGreaterThanOrEqual(5);
  expect(cpuMs()).toBeLessThan(6.01);
});

test('an engine keeps its rate within a hundredth and a hundredfold of the reference', () => {
  const stop: FakeMachine = { ...EVEN, stepsPerMs: () => 1 };
  const { engine } = fakeEngine(stop);
  burnWork(engine, 20_000, Number.POSITIVE_INFINITY, never);
  expect(engine.stepsPerMs).toBe(8000);
});

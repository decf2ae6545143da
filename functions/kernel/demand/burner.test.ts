import { expect, test } from 'vitest';
import { createBurner, SLICE_MS, type BurnerParts, type BurstRequest } from './burner.ts';
import { EVEN, fakeEngine, type FakeMachine } from './testing/fake-engine.ts';

const never = (): boolean => false;
const cpuTime = (ms: number): BurstRequest => ({ kind: 'cpuTime', place: 'before', ms });
const work = (ms: number, stepsPerMs: number | 'reference' = 'reference'): BurstRequest => ({
  kind: 'work',
  place: 'instead',
  ms,
  stepsPerMs,
});

/** A machine on which each look at the counters costs 5 µs of CPU, and waiting is added by the test. */
function bench(machine: FakeMachine = EVEN, counts: Partial<BurnerParts['runQueue']> = {}) {
  const fake = fakeEngine(machine);
  let waitedMs = 0;
  let idleMs = 0;
  const burner = createBurner({
    engine: fake.engine,
    mode: 'inline',
    wallMs: () => fake.cpuMs() + waitedMs + idleMs,
    runQueue: {
      readyMs: () => {
        fake.consume(0.005);
        return waitedMs;
      },
      involuntarySwitches: () => 0,
      ...counts,
    },
  });
  const wait = (ms: number): void => void (waitedMs += ms);
  const idle = (ms: number): void => void (idleMs += ms);
  return { ...fake, burner, wait, idle };
}

test.each([0.2, 1, 5, 50, 1000])(
  'burn of cpuTime %d ms consumes that with the readings around it included',
  (ms) => {
    const { burner, cpuMs } = bench();
    const before = cpuMs();
    const report = burner.burn(cpuTime(ms), never);
    const truth = cpuMs() - before;
    expect(Math.abs(truth - ms)).toBeLessThan(0.005);
    expect(Math.abs(report.cpuMs - truth)).toBeLessThan(0.003);
    expect(report).toMatchObject({ kind: 'cpuTime', place: 'before', nominal: ms, aborted: false });
  },
);

test('burn of work runs the reference steps, or those of the rate given', () => {
  const { burner } = bench();
  expect(burner.burn(work(50), never).steps).toBe(40_000_000);
  expect(burner.burn(work(50, 1_000_000), never).steps).toBe(50_000_000);
});

test('a slow machine takes longer for work, and its rate says why', () => {
  const { burner } = bench({ ...EVEN, stepsPerMs: () => 400_000 });
  const report = burner.burn(work(50), never);
  expect(report.cpuMs).toBeGreaterThan(100);
  expect(report.rate).toBeCloseTo(0.5, 2);
});

test('a slow machine does less work for cpuTime, and its rate says why', () => {
  const { burner } = bench({ ...EVEN, stepsPerMs: () => 400_000 });
  const report = burner.burn(cpuTime(50), never);
  expect(report.steps).toBeLessThan(20_000_000);
  expect(report.rate).toBeCloseTo(0.5, 2);
});

test('a report splits its wall time into CPU, run queue and rest', async () => {
  const { burner, wait, idle } = bench();
  const report = await burner.burnInTurns(cpuTime(20), never, async () => {
    wait(3);
    idle(2);
  });
  const turns = Math.ceil(20 / SLICE_MS) - 1;
  expect(report.readyMs).toBeCloseTo(3 * turns, 6);
  expect(report.restMs).toBeCloseTo(2 * turns, 1);
  const sum = report.cpuMs + (report.readyMs ?? 0) + (report.restMs ?? 0);
  expect(sum).toBeCloseTo(report.wallMs, 9);
});

test('a report without a run-queue counter leaves ready and rest open', () => {
  const { burner } = bench(EVEN, { readyMs: () => null });
  expect(burner.burn(cpuTime(1), never)).toMatchObject({ readyMs: null, restMs: null });
});

test('a report counts the involuntary switches of the burst', () => {
  let switches = 0;
  const { burner } = bench(EVEN, { involuntarySwitches: () => switches++ });
  expect(burner.burn(work(1), never).involuntarySwitches).toBe(1);
});

test('burnInTurns does not count what other handlers consume in a turn', async () => {
  const { burner, consume, cpuMs } = bench();
  const before = cpuMs();
  let others = 0;
  const report = await burner.burnInTurns(cpuTime(50), never, async () => {
    consume(8);
    others += 8;
  });
  // Up to a quarter of a ms of each turn passes for the burst's own.
  const turns = others / 8;
  expect(turns).toBe(50 / SLICE_MS - 1);
  expect(cpuMs() - before - others).toBeGreaterThan(50 - turns * 0.26);
  expect(cpuMs() - before - others).toBeLessThan(50.01);
  expect(report.cpuMs).toBeCloseTo(50, 2);
});

test('burnInTurns counts the cost of its own turns', async () => {
  const { burner, consume, cpuMs } = bench();
  const before = cpuMs();
  const turn = async (): Promise<void> => consume(0.04);
  await burner.burnInTurns(cpuTime(50), never, turn);
  expect(Math.abs(cpuMs() - before - 50)).toBeLessThan(0.005);
});

test.each([cpuTime(10_000), work(10_000)])(
  'burnInTurns of 10 s ends in the turn after the abort: %j',
  async (request) => {
    const { burner, cpuMs } = bench();
    let turns = 0;
    const report = await burner.burnInTurns(
      request,
      () => turns >= 4,
      async () => void turns++,
    );
    expect(report.aborted).toBe(true);
    expect(turns).toBe(4);
    // Four slices, each at most one piece too long.
    expect(report.cpuMs).toBeLessThan(4 * (SLICE_MS + 1.1));
    expect(cpuMs()).toBeLessThan(4 * (SLICE_MS + 1.1) + 2);
  },
);

test('a demand of 0 ms is over at once', () => {
  const { burner, pieces } = bench();
  expect(burner.burn(cpuTime(0), never)).toMatchObject({ steps: 0, rate: null, aborted: false });
  expect(burner.burn(work(0), never)).toMatchObject({ steps: 0, rate: null, aborted: false });
  expect(pieces).toEqual([]);
});

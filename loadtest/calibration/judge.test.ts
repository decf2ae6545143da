import { expect, test } from 'vitest';
import { type Evidence, judge, MAX_CLOCK_STEP_US, MAX_SPREAD } from './judge.ts';

const ROW = { nominalMs: 1, biasPct: 0.1, cvPct: 0.5, n: 100, outsideBiasPct: null };
const QUIET: Evidence = {
  clockFault: null,
  clockStepUs: 1,
  spread: 1.02,
  verify: [ROW, { ...ROW, nominalMs: 5, n: 20, biasPct: -0.05 }],
  disturbance: { readyShare: 0.01, throttledPeriods: 0, stealShare: 0.01 },
};

test('judge of a quiet machine: ok, without reasons', () => {
  expect(judge(QUIET)).toEqual({ verdict: 'ok', reasons: [] });
});

test('judge where the system tells nothing of disturbances: ok', () => {
  const disturbance = { readyShare: null, throttledPeriods: null, stealShare: null };
  expect(judge({ ...QUIET, disturbance }).verdict).toBe('ok');
});

test.each<readonly [string, Partial<Evidence>, RegExp]>([
  ['a varying rate', { spread: 1.3 }, /p90 is 1.30 times p10/],
  ['a bias at 1 ms', { verify: [{ ...ROW, biasPct: -0.6 }] }, /1 ms are off by -0.600 %.* 0.5 %/],
  ['a bias at 5 ms', { verify: [{ ...ROW, nominalMs: 5, biasPct: 0.2 }] }, /5 ms.* 0.1 %/],
  ['a bias that is no number', { verify: [{ ...ROW, biasPct: NaN }] }, /off by NaN/],
  ['bursts that vary', { verify: [{ ...ROW, cvPct: 2 }] }, /vary by 2.00 % \(CV\)/],
  [
    'a long wait for a CPU',
    { disturbance: { readyShare: 0.45, throttledPeriods: 0, stealShare: 0 } },
    /waited for a CPU 45.0 %/,
  ],
  [
    'a quota that ran out',
    { disturbance: { readyShare: 0, throttledPeriods: 3, stealShare: 0 } },
    /quota of the own cgroup ran out in 3 periods/,
  ],
  [
    'steal',
    { disturbance: { readyShare: 0, throttledPeriods: 0, stealShare: 0.12 } },
    /host took 12.0 % of the CPU time \(steal\)/,
  ],
])('judge of %s: noisy, and why', (_, change, reason) => {
  const { verdict, reasons } = judge({ ...QUIET, ...change });
  expect(verdict).toBe('noisy');
  expect(reasons).toHaveLength(1);
  expect(reasons[0]).toMatch(reason);
});

test('judge at the limits: ok', () => {
  expect(judge({ ...QUIET, spread: MAX_SPREAD, clockStepUs: MAX_CLOCK_STEP_US }).verdict).toBe(
    'ok',
  );
});

test.each<readonly [string, Partial<Evidence>, RegExp]>([
  ['a clock that moves by the tick', { clockStepUs: 4000 }, /steps of 4000 µs/],
  ['no usable clock', { clockFault: 'pair: frozen', clockStepUs: null }, /pair: frozen/],
  ['a clock that stands still over pieces', { spread: null }, /stood still/],
])('judge of %s: coarse-clock, which outweighs noise', (_, change, reason) => {
  const disturbance = { readyShare: 0.9, throttledPeriods: 9, stealShare: 0.9 };
  const { verdict, reasons } = judge({ ...QUIET, disturbance, ...change });
  expect(verdict).toBe('coarse-clock');
  expect(reasons).toEqual([expect.stringMatching(reason)]);
});

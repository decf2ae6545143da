import { expect, test } from 'vitest';
import { exampleObservation } from '#infra/autoscaling/hpa/testing/example-hpa.ts';
import { readSchedule } from './read-schedule.ts';
import { schedulePolicy, type ScheduleConfig } from './schedule.ts';

const CONFIG: ScheduleConfig = {
  steps: [
    { fromMs: 0, replicas: 1 },
    { fromMs: 30_000, replicas: 4 },
    { fromMs: 60_000, replicas: 0 },
  ],
};

test.each([
  { atMs: 0, desired: 1, again: 30_000 },
  { atMs: 29_999, desired: 1, again: 30_000 },
  { atMs: 30_000, desired: 4, again: 60_000 },
  { atMs: 59_999, desired: 4, again: 60_000 },
  { atMs: 60_000, desired: 0, again: null },
  { atMs: 9_000_000, desired: 0, again: null },
])('$atMs ms after the start: $desired', ({ atMs, desired, again }) => {
  const startMs = 7_000;
  const start = schedulePolicy.start(CONFIG, { nowMs: startMs, ready: 0 });
  const step = schedulePolicy.decide(CONFIG, start, exampleObservation(), startMs + atMs);
  expect(step.decision).toMatchObject({ desired, wanted: desired, details: { elapsedMs: atMs } });
  expect(step.decision.againAtMs).toBe(again === null ? null : startMs + again);
});

test('the reason says until when', () => {
  const start = schedulePolicy.start(CONFIG, { nowMs: 0, ready: 0 });
  const reasonAt = (nowMs: number): string =>
    schedulePolicy.decide(CONFIG, start, exampleObservation(), nowMs).decision.reason;
  expect(reasonAt(0)).toBe('the time-table says 1 until 30 s');
  expect(reasonAt(60_000)).toBe('the time-table says 0 to the end');
});

test.each([
  ['0s=1,30s=4,60s=0', CONFIG.steps],
  ['0s=1', [{ fromMs: 0, replicas: 1 }]],
  [
    ' 0ms=2 , 0.5m=3 ',
    [
      { fromMs: 0, replicas: 2 },
      { fromMs: 30_000, replicas: 3 },
    ],
  ],
])('reads %j', (text, steps) => {
  expect(readSchedule(text)).toEqual({ steps });
});

test.each([
  ['', '"" is not a step such as 30s=4'],
  ['0s=1,', '"" is not a step such as 30s=4'],
  ['1', '"1" is not a step such as 30s=4'],
  ['0s=-1', '"0s=-1" is not a step such as 30s=4'],
  ['0h=1', '"0h=1" is not a step such as 30s=4'],
  ['0s=257', '"0s=257" asks for more than 256 replicas'],
  ['1s=1', 'the first step must be from 0s on'],
  ['0s=1,30s=2,30s=3', '"30s=3" is not after the step before it'],
  [
    Array.from({ length: 101 }, (_, index) => `${index}s=1`).join(),
    'it has 101 steps; at most 100',
  ],
])('refuses %j', (text, fault) => {
  expect(readSchedule(text)).toBe(fault);
});

test('a hundred steps are read', () => {
  const text = Array.from({ length: 100 }, (_, index) => `${index}s=1`).join();
  expect(readSchedule(text)).toMatchObject({ steps: { length: 100 } });
});

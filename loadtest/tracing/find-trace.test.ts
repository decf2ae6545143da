import { expect, test } from 'vitest';
import { analyzeTraces } from './analyze-traces.ts';
import { findTrace } from './find-trace.ts';
import { syntheticRun } from './testing/synthetic-run.ts';

const run = syntheticRun(
  ['s1', 's2'].flatMap((session) =>
    [0, 1].map((seq) => ({ vehicle: 'veh-1', session, seq, intendedMs: seq * 1_000 })),
  ),
);
const { traces } = analyzeTraces({ ...run, tracing: null, faults: [], windowMs: 1_000 });
const [first] = traces;

test('findTrace by id, by its beginning, by the batch', () => {
  expect(findTrace(traces, first?.traceId ?? '')).toBe(first);
  expect(findTrace(traces, 'veh-1/s2/1')).toMatchObject({ session: 's2', seq: 1 });
  expect(findTrace(traces.slice(0, 2), 'veh-1/1')).toMatchObject({ session: 's1', seq: 1 });
});

test.each([
  ['veh-1/0', '2 of them'],
  ['0000', '4 of them'],
  ['veh-1/s1/7', 'none is meant by "veh-1/s1/7"'],
  ['veh-1/s1/x', 'none'],
  ['000', 'none'],
  ['', 'none'],
])('findTrace of %j is refused: %s', (wanted, message) => {
  expect(() => findTrace(traces, wanted)).toThrow(message);
});

test('findTrace in a run without traces says that', () => {
  expect(() => findTrace([], 'abcd')).toThrow('this run has no sampled trace');
});

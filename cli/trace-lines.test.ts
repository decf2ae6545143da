import { expect, test } from 'vitest';
import { PHASES } from '#kernel/core/phases.ts';
import { analyzeTraces } from '#loadtest/tracing/analyze-traces.ts';
import { syntheticRun, type SyntheticBatch } from '#loadtest/tracing/testing/synthetic-run.ts';
import { PHASE_LETTERS, traceLines } from './trace-lines.ts';

function linesOf(change: Partial<SyntheticBatch> = {}, width = 100): readonly string[] {
  const batch = { vehicle: 'veh-1', session: 's1', seq: 4, intendedMs: 0, ...change };
  const run = syntheticRun([batch]);
  const { traces } = analyzeTraces({ ...run, tracing: null, faults: [], windowMs: 1_000 });
  const [trace] = traces;
  if (trace === undefined) throw new Error('there is a trace');
  return traceLines(trace, run.spans, { width, colour: (_, text) => text });
}

test('each phase has a letter of its own', () => {
  const letters = PHASES.map((phase) => PHASE_LETTERS[phase]);
  expect(new Set(letters).size).toBe(PHASES.length);
});

test('a trace in the terminal: what became of it, its way by stage, its spans as bars', () => {
  const lines = linesOf({ coldMs: { export: 60 }, retries: { 'data-processing': 1 } });
  expect(lines.slice(0, 4)).toEqual([
    'batch     veh-1/s1/4',
    expect.stringMatching(/^trace {5}[0-9a-f]{32}$/),
    'state     complete, a start was waited for, with a failure or a repeated attempt',
    expect.stringMatching(/^total {5}89\.0 ms, of which nothing covers/),
  ]);
  expect(lines.find((line) => line.includes('export  '))).toContain('coldStart 60.0 ms');
  const cold = lines.find((line) => line.includes('deliver → export'));
  expect(cold).toMatch(/C{20,}/);
  expect(cold).toContain('cold');
  expect(lines.filter((line) => line.includes('deliver → data-processing'))).toHaveLength(2);
  expect(lines.find((line) => line.includes('attempt 2'))).toBeDefined();
  expect(lines.at(-1)).toContain('C coldStart');
});

test('every bar fits the terminal, but for its notes', () => {
  for (const line of linesOf({ coldMs: { export: 60 } }, 80).slice(10)) {
    if (line.startsWith('key')) continue;
    expect(line.replace(/ {2}[a-z].*$/, '').length).toBeLessThanOrEqual(80);
  }
});

test('a trace that did not come out says why', () => {
  expect(linesOf({ lostAfter: 'export' })[2]).toContain(
    'incomplete    there is no span of an arrival of window veh-1/s1/4 at the sink',
  );
});

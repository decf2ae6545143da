import { expect, test } from 'vitest';
import { analyzeTraces } from '#loadtest/tracing/analyze-traces.ts';
import { stageBreakdowns } from '#loadtest/tracing/stage-breakdown.ts';
import { syntheticRun, type SyntheticBatch } from '#loadtest/tracing/testing/synthetic-run.ts';
import { filterScript, filterScriptSource } from './filter-script.ts';
import { tracesSection } from './traces-section.ts';

const analyze = (batches: readonly SyntheticBatch[]) =>
  analyzeTraces({ ...syntheticRun(batches), tracing: null, faults: [], windowMs: 1_000 });

const batches = (count: number, change: (seq: number) => Partial<SyntheticBatch> = () => ({})) =>
  Array.from({ length: count }, (_, seq) => ({
    vehicle: 'veh-1',
    session: 's1',
    seq,
    intendedMs: seq * 1_000,
    ...change(seq),
  }));

test('stageBreakdowns: the parts of a bar add up to it, of the whole way and of each stage', () => {
  const { traces } = analyze(
    batches(100, (seq) => ({ coldMs: { export: seq }, uploadMs: seq / 2 })),
  );
  const breakdowns = stageBreakdowns(traces);
  expect(breakdowns.map(({ stage }) => stage)).toEqual([
    'whole way',
    'device-communication',
    'data-provider',
    'data-processing',
    'export',
    'sink',
  ]);
  for (const { bars } of breakdowns) {
    expect(bars.map(({ quantile }) => quantile)).toEqual(['p50', 'p95', 'p99']);
    for (const { totalMs, parts } of bars) {
      expect(parts.reduce((sum, { ms }) => sum + ms, 0)).toBeCloseTo(totalMs, 2);
    }
  }
  // Of 100 values of 0 to 99 the p95 is the 95th: 94.
  const exported = breakdowns.find(({ stage }) => stage === 'export')?.bars[1];
  expect(exported?.parts.find(({ name }) => name === 'coldStart')?.ms).toBeCloseTo(94, 2);
});

test.each([
  [1, ['p50']],
  [19, ['p50']],
  [20, ['p50', 'p95']],
  [99, ['p50', 'p95']],
])('stageBreakdowns of %d traces has %j', (count, quantiles) => {
  const [whole] = stageBreakdowns(analyze(batches(count)).traces);
  expect(whole?.bars.map(({ quantile }) => quantile)).toEqual(quantiles);
});

test('the section says how many traces are complete, and has each kept one with its words', () => {
  const { text } = tracesSection(
    analyze(
      batches(30, (seq) => ({
        ...(seq === 3 ? { coldMs: { export: 500 } } : {}),
        ...(seq === 5 ? { lostAfter: 'export' } : {}),
        ...(seq === 7 ? { aheadMs: { export: -2 }, uploadMs: 400 } : {}),
      })),
    ),
  );
  expect(text).toContain('<b>29 of 30</b>');
  expect(text).toContain('data-text="veh-1 s1 3 ');
  expect(text).toContain('data-kept="slowest cold"');
  expect(text).toContain('there is no span of an arrival of window veh-1/s1/5 at the sink');
  expect(text).toContain('begins before it was sent there');
});

test('names from outside are text, in attributes too', () => {
  const { text } = tracesSection(
    analyze(batches(1, () => ({ vehicle: '"><img src=x onerror=alert(1)>' }))),
  );
  expect(text).not.toContain('<img');
});

test('a run without a complete trace says so', () => {
  const { text } = tracesSection(analyze([]));
  expect(text).toContain('No trace is complete.');
  expect(text).toContain('0 of 0 traces');
});

test('the policy allows the very text of the script', () => {
  const text = filterScript().text.replace('<script>', '').replace('</script>', '');
  expect(text).not.toContain('<');
  expect(filterScriptSource()).toMatch(/^'sha256-[A-Za-z0-9+/]{43}='$/);
});

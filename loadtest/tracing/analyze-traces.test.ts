import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { TracingFile } from '#infra/local/tracing/tracing-file.ts';
import { analyzeTraces, traceWarnings } from './analyze-traces.ts';
import { syntheticRun, type SyntheticBatch, type SyntheticRun } from './testing/synthetic-run.ts';

const TRACING: TracingFile = {
  schema: 'tachograph.tracing/1',
  spans: 0,
  bytes: 0,
  refusedRequests: 0,
  droppedByLimit: 0,
  droppedByProcess: {},
};

const analyze = ({ spans, records }: SyntheticRun, tracing: TracingFile = TRACING) =>
  analyzeTraces({ spans, records, tracing, faults: [], windowMs: 1_000 });

const batch = (change: Partial<SyntheticBatch> = {}): SyntheticBatch => ({
  vehicle: 'veh-1',
  session: 's1',
  seq: 0,
  intendedMs: 0,
  ...change,
});

test('a complete trace: every moment from the intended time to the sink has one owner', () => {
  const { traces, summary } = analyze(syntheticRun([batch()]));
  const [trace] = traces;
  expect(trace).toMatchObject({ state: 'complete', reason: '', cold: false, failed: false });
  // Upload 5; each hop 0.6 up to its handling and 4 to the stream, 1 in the stream; the sink's hop 0.6.
  expect(trace?.totalMs).toBeCloseTo(5 + 4 * (0.6 + 4) + 4 * 1 + 0.6, 2);
  expect(trace?.residualMs).toBe(0);
  expect(trace?.overlapMs).toBe(0);
  const steps = trace?.path ?? [];
  for (const [at, step] of steps.entries()) {
    expect(step.fromMs).toBeCloseTo(steps[at - 1]?.untilMs ?? 0, 2);
  }
  expect(steps.slice(0, 8).map(({ stage, phase }) => `${stage} ${phase}`)).toEqual([
    'device-communication upload',
    'device-communication activator',
    'device-communication queue',
    'device-communication compute',
    'device-communication store',
    'device-communication emit',
    'device-communication publish',
    'data-provider stream',
  ]);
  expect(summary).toMatchObject({
    expected: 1,
    complete: 1,
    incomplete: 0,
    orphanSpans: 0,
    droppedSpans: 0,
    residualMsP99: null,
    residualMsMax: 0,
    clockFaults: 0,
  });
});

test('phases of a stage: quantiles over all traces, 0 where one has none of it', () => {
  const run = syntheticRun([
    batch({ seq: 0, coldMs: { export: 80 } }),
    batch({ seq: 1, intendedMs: 1_000 }),
    batch({ seq: 2, intendedMs: 2_000 }),
  ]);
  const { phasesMs } = analyze(run);
  expect(phasesMs['export']?.coldStart).toEqual({ p50: 0, p95: null, p99: null, max: 80, n: 3 });
  expect(phasesMs['export']?.store).toMatchObject({ p50: 2, max: 2 });
  // The stream has the event 0.5 ms after its POST began; what follows is on nobody's way.
  expect(phasesMs['export']?.publish).toMatchObject({ p50: 0.5, max: 0.5 });
  expect(phasesMs['sink']?.stream.p50).toBe(1);
});

test('a planted gap is the residual, to the µs, wherever it is', () => {
  const stages = ['device-communication', 'data-provider', 'data-processing', 'export', 'sink'];
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom(...stages), fc.integer({ min: 1, max: 9_000 })), {
        maxLength: 5,
      }),
      fc.integer({ min: 0, max: 300_000 }),
      (planted, coldUs) => {
        const gapMs = Object.fromEntries(planted.map(([stage, us]) => [stage, us / 1_000]));
        const sumMs = Object.values(gapMs).reduce((sum, ms) => sum + ms, 0);
        const run = syntheticRun([batch({ gapMs, coldMs: { 'data-processing': coldUs / 1_000 } })]);
        const [trace] = analyze(run).traces;
        // The mark on the way in begins 0.3 ms before the handling: a gap lies before it.
        expect(Math.abs((trace?.residualMs ?? NaN) - sumMs)).toBeLessThan(0.01);
        const pathMs = trace?.path.reduce((sum, step) => sum + step.untilMs - step.fromMs, 0);
        expect(Math.abs((trace?.totalMs ?? NaN) - (pathMs ?? NaN) - sumMs)).toBeLessThan(0.01);
      },
    ),
  );
});

test('of 100 traces the residual has a p99 in ms and per cent', () => {
  const run = syntheticRun(
    Array.from({ length: 100 }, (_, seq) =>
      batch({ seq, intendedMs: seq * 100, gapMs: { export: seq === 99 ? 5 : 0.1 } }),
    ),
  );
  const { summary } = analyze(run);
  expect(summary.residualMsP99).toBeCloseTo(0.1, 2);
  expect(summary.residualMsMax).toBeCloseTo(5, 2);
  expect(summary.residualPctP99).toBeCloseTo((100 * 0.1) / (28 + 0.1), 1);
});

test('time that two phases claim is overlap, and the one further on the way has it', () => {
  const run = syntheticRun([batch({ aheadMs: { 'data-provider': 2 } })]);
  const [trace] = analyze(run).traces;
  // Its clock is 2 ms ahead: before its handling 2 ms are nobody's, and its last 2 ms on the way, when
  // the stream has the event by its own clock, are cut off.
  expect(trace?.residualMs).toBeCloseTo(2, 2);
  expect(trace?.overlapMs).toBe(0);
  const behind = analyze(syntheticRun([batch({ aheadMs: { 'data-provider': -2 } })])).traces[0];
  expect(behind?.overlapMs).toBeCloseTo(2, 2);
});

test('an effect before its cause is flagged, with who and by how much', () => {
  const { traces, summary } = analyze(
    syntheticRun([batch({ aheadMs: { 'data-processing': -2 } })]),
  );
  expect(traces[0]?.clockFaults).toEqual([
    'handle of data-processing (data-processing-0) begins before it was sent there, by 1.7 ms',
  ]);
  expect(summary.clockFaults).toBe(1);
});

test("another process's clock: offset and bound hold what was planted", () => {
  const aheadMs = { export: 3, 'data-provider': 0 };
  const { clocks } = analyze(syntheticRun([batch({ aheadMs })])).summary;
  const of = (instance: string) => clocks.find((one) => one.instance === instance);
  const exported = of('export-0');
  expect(Math.abs((exported?.offsetMs ?? NaN) - 3)).toBeLessThanOrEqual(exported?.boundMs ?? NaN);
  const provider = of('data-provider-0');
  expect(Math.abs(provider?.offsetMs ?? NaN)).toBeLessThanOrEqual(provider?.boundMs ?? NaN);
  expect(provider).toMatchObject({ pairs: 1, consistent: true });
});

test('bounds that contradict each other are no offset: the clock was set', () => {
  const run = syntheticRun([
    batch({ seq: 0, aheadMs: { export: 50 } }),
    batch({ seq: 1, intendedMs: 500, aheadMs: { export: -50 } }),
  ]);
  const { clocks } = analyze(run).summary;
  expect(clocks.find(({ instance }) => instance === 'export-0')?.consistent).toBe(false);
});

test('a batch whose window another one closed: its own spans, the wait, then the other trace', () => {
  const run = syntheticRun([batch({ seq: 0, closedBy: 1 }), batch({ seq: 1, intendedMs: 500 })]);
  // Both lie in window 1: batch 0 in the first half of it.
  const records = run.records.map((record) => ({
    ...record,
    fromUs: 1_000_000,
    untilUs: 1_500_000,
  }));
  const { traces } = analyze({ ...run, records });
  expect(traces.map(({ state, waitedForWindow }) => [state, waitedForWindow])).toEqual([
    ['complete', true],
    ['complete', false],
  ]);
  const waited = traces[0];
  const wait = waited?.path.find(({ phase }) => phase === 'windowWait');
  expect(wait?.stage).toBe('data-provider');
  expect(wait?.untilMs).toBeCloseTo(500 + 5 + 0.6 + 4 + 1 + 0.6, 2);
  expect(waited?.totalMs).toBeCloseTo(500 + (traces[1]?.totalMs ?? NaN), 6);
  expect(waited?.residualMs).toBe(0);
});

test('an event that a stage parked is a stated reason', () => {
  const { traces, summary } = analyze(syntheticRun([batch({ parkedAt: 'data-processing' })]));
  expect(traces[0]).toMatchObject({ state: 'parked', reason: 'an event was parked: poison' });
  expect(summary).toMatchObject({ expected: 1, complete: 0, parked: 1, incomplete: 0 });
});

test('a batch that was a duplicate and of which nothing follows is a stated reason', () => {
  const run = syntheticRun([batch({ lostAfter: 'device-communication' })]);
  const records = run.records.map((record) => ({ ...record, duplicate: true }));
  expect(analyze({ ...run, records }).summary).toMatchObject({ duplicates: 1, incomplete: 0 });
});

test('a trace that ends without a reason is incomplete, and says what is not there', () => {
  const run = syntheticRun([batch({ lostAfter: 'data-processing' })]);
  const found = analyze(run);
  expect(found.traces[0]).toMatchObject({
    state: 'incomplete',
    reason: 'there is no span of an arrival of window veh-1/s1/0 at the sink',
    totalMs: null,
  });
  expect(traceWarnings(found, [])).toEqual(['1 of 1 traces are not complete']);
});

test('a span that is in no file: its children are orphans, and the trace is not complete', () => {
  const run = syntheticRun([batch()]);
  const spans = run.spans.filter(
    ({ name, service }) => !(name === 'handle' && service === 'export'),
  );
  const found = analyze({ ...run, spans });
  expect(found.summary).toMatchObject({ orphanSpans: 1, incomplete: 1 });
  expect(traceWarnings(found, [])).toContain('1 spans have a parent that is in no file');
});

test('dropped spans: what the processes said, and what the file had no room for', () => {
  const tracing = { ...TRACING, droppedByLimit: 3, droppedByProcess: { a: 4, b: 5 } };
  const found = analyze(syntheticRun([batch()]), tracing);
  expect(found.summary.droppedSpans).toBe(12);
  expect(traceWarnings(found, ['spans.ndjson:9 is no OTLP/JSON request'])).toEqual([
    'spans.ndjson:9 is no OTLP/JSON request',
    '12 spans were dropped',
  ]);
});

test('a redelivery is a sibling: its wait goes back to the stream, and the trace is a failed one', () => {
  const { traces } = analyze(syntheticRun([batch({ retries: { export: 2 } })]));
  const [trace] = traces;
  expect(trace).toMatchObject({ state: 'complete', failed: true });
  const stream = trace?.path.find(({ stage, phase }) => stage === 'export' && phase === 'stream');
  expect((stream?.untilMs ?? NaN) - (stream?.fromMs ?? NaN)).toBeCloseTo(3, 2);
  expect(trace?.residualMs).toBe(0);
});

test('a batch that was not sampled, or not stored, is not expected', () => {
  const run = syntheticRun([batch({ seq: 0 }), batch({ seq: 1 }), batch({ seq: 2 })]);
  const records = run.records.map((record) => {
    if (record.seq === 1) return { ...record, traceId: null };
    return record.seq === 2 ? { ...record, outcome: 'refused' as const } : record;
  });
  expect(analyze({ ...run, records }).summary.expected).toBe(1);
});

test('which share of the slowest traces is cold start, by stage and part', () => {
  const run = syntheticRun(
    Array.from({ length: 100 }, (_, seq) =>
      batch({ seq, intendedMs: seq * 1_000, coldMs: { export: seq < 2 ? 100 : 0 } }),
    ),
  );
  const { coldStart } = analyze(run);
  const p99 = coldStart.find(({ quantile }) => quantile === 'p99');
  expect(p99).toMatchObject({ traces: 2 });
  expect(p99?.coldStartMs).toBeCloseTo(100, 2);
  expect(p99?.share).toBeCloseTo(100 / 128, 3);
  expect(p99?.byStage['export']?.ms).toBeCloseTo(100, 2);
  expect(p99?.byPartMs['boot']).toBeCloseTo(50, 2);
  const p50 = coldStart.find(({ quantile }) => quantile === 'p50');
  expect(p50?.share).toBeLessThan(0.15);
});

test('kept for the report: slowest, cold, failed and median, each with all its spans', () => {
  const run = syntheticRun(
    Array.from({ length: 60 }, (_, seq) =>
      batch({
        seq,
        intendedMs: seq * 1_000,
        uploadMs: seq,
        ...(seq === 3 ? { coldMs: { export: 1 } } : {}),
        ...(seq === 5 ? { retries: { export: 1 } } : {}),
        ...(seq === 7 ? { lostAfter: 'export' } : {}),
      }),
    ),
  );
  const { kept } = analyze(run);
  const of = (why: string) =>
    kept.filter(({ keptFor }) => keptFor.some((one) => one === why)).map(({ trace }) => trace.seq);
  expect(of('slowest').toSorted((a, b) => a - b)).toEqual([50, 51, 52, 53, 54, 55, 56, 57, 58, 59]);
  expect(of('cold')).toEqual([3]);
  expect(of('failed')).toEqual([7, 5]);
  expect(of('median')).toHaveLength(3);
  for (const { trace, spans } of kept) {
    expect(spans.length).toBe(run.spans.filter(({ traceId }) => traceId === trace.traceId).length);
  }
});

test('a run without any trace has an analysis of nothing', () => {
  const found = analyze({ spans: [], records: [] });
  expect(found.summary).toMatchObject({ expected: 0, residualMsMax: null, clocks: [] });
  expect(found.coldStart).toEqual([]);
  expect(found.kept).toEqual([]);
});

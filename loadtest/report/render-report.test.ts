import { expect, test } from 'vitest';
import { deriveSummary } from '#loadtest/results/run-records.ts';
import { exampleLoadRecords, exampleRecords } from '#loadtest/results/testing/example-records.ts';
import { indexFacts } from '#loadtest/ledger/fact-index.ts';
import { renderReport } from './render-report.ts';
import type { RunRecords } from '#loadtest/results/run-records.ts';
import type { ReportInput } from './render-report.ts';

const SPEED = {
  title: 'Speed',
  unit: 'km/h',
  series: [{ name: 'SPEED', times: [0, 1, 2, 6, 7], values: [10, 20, 15, 5, Number.NaN] }],
};

const inputOf = (records: RunRecords, change: Partial<ReportInput> = {}): ReportInput => ({
  config: records.config,
  run: records.run,
  ...deriveSummary(records),
  records: records.records,
  exports: [...indexFacts(records.facts).compacted.values()],
  plots: { of: 'veh-0001, session s1', plots: [SPEED] },
  scaling: null,
  traces: null,
  ...change,
});

test('renderReport of a run in which everything came out: as pinned', async () => {
  await expect(renderReport(inputOf(exampleRecords(20)))).toMatchFileSnapshot(
    './golden/report.html',
  );
});

test('renderReport: loads nothing from anywhere', () => {
  const text = renderReport(inputOf(exampleRecords()));
  expect(text).not.toMatch(/<(script|link|img|iframe)|@import|url\(|src=/);
  expect(text).toContain(`default-src 'none'`);
  expect(text.match(/href="[^"]*"/g)?.every((href) => href.startsWith('href="export/'))).toBe(true);
});

test('renderReport with problems: they stand before everything else', () => {
  const records = exampleRecords();
  const facts = records.facts.filter((fact) => fact.kind !== 'result' || fact.window !== 1);
  const text = renderReport(inputOf({ ...records, facts }));
  expect(text).toContain('✗ not valid');
  expect(text).toContain('✗ no');
  const problems = text.indexOf('<h2>Problems</h2>');
  expect(problems).toBeGreaterThan(0);
  expect(problems).toBeLessThan(text.indexOf('The way of the data'));
});

test('renderReport with hostile names: none of them becomes markup', () => {
  const records = exampleRecords();
  const hostile = '<img src=x onerror=alert(1)>';
  const text = renderReport(
    inputOf(
      {
        ...records,
        run: { ...records.run, problems: [hostile] },
        environment: { ...records.environment, cpuModel: hostile },
        records: records.records.map((record) => ({ ...record, vehicle: hostile })),
      },
      { plots: { of: hostile, plots: [{ ...SPEED, title: hostile, unit: hostile }] } },
    ),
  );
  expect(text).not.toContain('<img');
  expect(text).toContain('&lt;img');
});

test('renderReport without a completed session: says so, and stays valid HTML', () => {
  const records = exampleRecords();
  const text = renderReport(inputOf(records, { exports: [], plots: null, records: [] }));
  expect(text).toContain('No session was completed');
  expect(text).toContain('No Parquet file');
  expect(text).toContain('No batch came out');
});

test('renderReport of many sessions: the first ones file by file, the rest as a sum', () => {
  const records = exampleRecords();
  const [card] = indexFacts(records.facts).compacted.values();
  if (card === undefined) throw new Error('the example has a compacted session');
  const exports = Array.from({ length: 25 }, (_, index) => ({ ...card, session: `s${index}` }));
  const text = renderReport(inputOf(records, { exports }));
  expect(text.match(/<details>/g)).toHaveLength(10);
  expect(text).toMatch(/And 15 more sessions with 30 files/);
});

test('renderReport of a run with emulated batches: load and demands, no drive and no files', () => {
  const records = exampleLoadRecords(20);
  const text = renderReport(inputOf(records, { plots: null }));
  expect(text).toContain('poisson arrivals for 30.0 s');
  expect(text).toContain('<h2>Demands</h2>');
  expect(text).toContain('cpuTime:50ms@instead');
  expect(text).toContain('50.0 ms / 50.0 ms');
  expect(text).not.toContain('<h2>Signals</h2>');
  expect(text).not.toContain('<h2>Exported files</h2>');
  expect(text).not.toContain('drive SHA-256');
});

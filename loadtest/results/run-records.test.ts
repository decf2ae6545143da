import { mkdtemp, rm, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkSummary } from './check-summary.ts';
import { deriveSummary, readRunRecords, writeRunRecords } from './run-records.ts';
import { toNdjson } from './ndjson.ts';
import {
  exampleLoadRecords,
  exampleRecords,
  exampleScaledRecords,
} from './testing/example-records.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tachograph-records-'));
});
afterEach(() => rm(folder, { recursive: true }));

test('writeRunRecords and readRunRecords: what is read is what was written', async () => {
  const records = exampleRecords();
  await writeRunRecords(folder, records);
  expect(await readRunRecords(folder)).toEqual(records);
});

test('readRunRecords of a folder without a file: RESULT_UNREADABLE naming it', async () => {
  await writeRunRecords(folder, exampleRecords());
  await unlink(join(folder, 'facts.ndjson'));
  await expect(readRunRecords(folder)).rejects.toThrow(/cannot be read: .*facts\.ndjson/);
});

test('readRunRecords of a torn line: RESULT_UNREADABLE with its number', async () => {
  await writeRunRecords(folder, exampleRecords());
  await writeFile(join(folder, 'events.ndjson'), '{}\n{"vehicle":\n');
  await expect(readRunRecords(folder)).rejects.toThrow(/events\.ndjson:2 is not JSON/);
});

test('deriveSummary of a run in which everything came out: valid', () => {
  const { summary } = deriveSummary(exampleRecords());
  expect(summary).toMatchObject({
    schema: 'tachograph.summary/1',
    valid: true,
    problems: [],
    latencyMs: { p50: 50, p95: null, p99: null, max: 50, n: 3, from: 'intended' },
    stages: { vehicles: { vehicles: 1, failed: 0, attempts: 3, lateMs: { p50: 1, n: 3 } } },
  });
});

test('deriveSummary with a problem outside the ledger: not valid, though balanced', () => {
  const records = exampleRecords();
  const { summary } = deriveSummary({
    ...records,
    run: {
      ...records.run,
      problems: ['gave up'],
      vehicles: [{ vehicle: 'veh-0001', session: 's1', failure: 'x' }],
    },
  });
  expect(summary).toMatchObject({
    valid: false,
    problems: ['gave up'],
    ledger: { balanced: true },
    stages: { vehicles: { failed: 1 } },
  });
});

test('deriveSummary with a lost fact: not valid, the ledger says why', () => {
  const records = exampleRecords();
  const facts = records.facts.filter((fact) => !(fact.kind === 'batch' && fact.seq === 1));
  const { summary } = deriveSummary({ ...records, facts });
  expect(summary.valid).toBe(false);
  expect(summary.ledger.balanced).toBe(false);
  expect(summary.problems.length).toBeGreaterThan(0);
});

test('writeRunRecords with bursts: read again, and the summary of the stage follows from them', async () => {
  const records = exampleLoadRecords(20);
  await writeRunRecords(folder, records);
  const again = await readRunRecords(folder);
  expect(again).toEqual(records);
  const { summary } = deriveSummary(again);
  expect(checkSummary(summary).stages['export']).toMatchObject({
    delivered: 4,
    bursts: { n: 20, lost: 0, kinds: { 'cpuTime@instead': 20 }, cpuMs: { p50: 50.01, n: 20 } },
  });
  expect(summary.stages['campaign']).not.toHaveProperty('bursts');
});

test('records of scaling: read from the files that the cluster wrote, and told in the summary', async () => {
  const records = exampleScaledRecords();
  const { replicas = [], coldStarts = [], samples = [] } = records.scaling ?? {};
  await writeRunRecords(folder, records);
  await writeFile(join(folder, 'replicas.ndjson'), toNdjson(replicas));
  await writeFile(join(folder, 'cold-starts.ndjson'), toNdjson(coldStarts));
  await writeFile(join(folder, 'samples.ndjson'), toNdjson(samples));
  expect(await readRunRecords(folder)).toEqual(records);
  const { summary } = deriveSummary(records);
  expect(checkSummary(summary)).toMatchObject({
    policy: 'kpa',
    measuredMs: 60_000,
    stages: {
      export: {
        delivered: 4,
        cpuMs: 400,
        bursts: { n: 3 },
        replicasMax: 1,
        coldStarts: 1,
        coldStartMs: { p50: 100, n: 1 },
        replicaSeconds: 10,
        cpuSeconds: 0.4,
        zeroBefore: true,
        backToZero: true,
      },
      // Never needed.
      campaign: { delivered: null, cpuMs: 0, replicasMax: 0, backToZero: true },
    },
  });
});

test('deriveSummary of a run on a pipeline that was there: nothing is said of scaling', () => {
  const { summary } = deriveSummary(exampleLoadRecords());
  expect(summary).not.toHaveProperty('policy');
  expect(summary.stages['export']).not.toHaveProperty('replicaSeconds');
});

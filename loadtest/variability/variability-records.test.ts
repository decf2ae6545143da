import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeJson, writeRecords } from '#loadtest/results/result-folder.ts';
import { readVariabilityRecords } from './variability-records.ts';
import { exampleVariability } from './testing/example-study.ts';

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'tachograph-records-'));
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

test('readVariabilityRecords: what was written, without bursts of an execution that broke off', () =>
  inFolder(async (folder) => {
    const records = exampleVariability();
    const executions = records.executions.slice(0, -1);
    await writeJson(folder, 'config.json', records.config);
    await writeJson(folder, 'run.json', records.run);
    await writeJson(folder, 'environment.json', records.environment);
    await writeRecords(folder, 'executions.ndjson', executions);
    await writeRecords(folder, 'bursts.ndjson', records.bursts);
    const read = await readVariabilityRecords(folder);
    expect(read.executions).toEqual(executions);
    expect(read.bursts).toEqual(records.bursts.slice(0, -12));
    expect(read.config).toEqual(records.config);
  }));

test('readVariabilityRecords of something else: RESULT_UNREADABLE naming the place', () =>
  inFolder(async (folder) => {
    await expect(readVariabilityRecords(folder)).rejects.toThrow('executions.ndjson');
    await writeFile(join(folder, 'executions.ndjson'), '{"node":1}\nnot json\n');
    await expect(readVariabilityRecords(folder)).rejects.toThrow('executions.ndjson:2');
  }));

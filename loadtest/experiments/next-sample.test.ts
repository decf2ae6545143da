import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { VirtualClock } from '#kernel/core/clock.ts';
import { runUntil } from '#loadtest/vehicles/testing/run-until.ts';
import { nextSampleMs } from './next-sample.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tachograph-samples-'));
  await writeFile(join(folder, 'samples.ndjson'), '{"atMs":1000}\n{"atMs":1001}\n');
});
afterEach(() => rm(folder, { recursive: true }));

const signal = new AbortController().signal;

test('nextSampleMs: waits for a sample that was not there yet', async () => {
  const clock = new VirtualClock();
  const sample = (async () => {
    await clock.sleep(300);
    await appendFile(join(folder, 'samples.ndjson'), '{"atMs":2000}\n');
  })();
  expect(await runUntil(clock, nextSampleMs(folder, clock, signal))).toBe(2_000);
  await sample;
});

test('nextSampleMs without a new one: the last, after ten seconds', async () => {
  const clock = new VirtualClock();
  expect(await runUntil(clock, nextSampleMs(folder, clock, signal))).toBe(1_001);
  expect(clock.monotonicMs()).toBeGreaterThanOrEqual(10_000);
});

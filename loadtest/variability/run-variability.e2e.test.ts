import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '#kernel/system/system-clock.ts';
import { rebuildReport } from '#loadtest/report/rebuild-report.ts';
import { parseStudy, type StudyText } from './parse-study.ts';
import { runVariability, type VariabilityOptions } from './run-variability.ts';

let results: string;
beforeAll(async () => {
  results = await mkdtemp(join(tmpdir(), 'tachograph-variability-'));
});
afterAll(() => rm(results, { recursive: true }));

const TINY: StudyText = {
  nodes: '2',
  neighbours: '1',
  demands: '1ms,2ms',
  executions: '2',
  iterations: '2',
  bursts: '2',
};

function optionsFor(text: StudyText, change: Partial<VariabilityOptions>): VariabilityOptions {
  return {
    study: parseStudy(text),
    name: 'variability',
    root: process.cwd(),
    results,
    clock: systemClock,
    signal: new AbortController().signal,
    machine: {
      pid: process.pid,
      platform: process.platform,
      useCgroups: true,
      isAlive: () => true,
    },
    onNote: () => {},
    onProgress: () => {},
    ...change,
  };
}

test('runVariability with real processes: every burst is there, and the report can be rebuilt', async () => {
  const notes: string[] = [];
  const { folder, summary } = await runVariability(
    optionsFor(TINY, { onNote: (line) => notes.push(line) }),
  );
  expect(summary.problems).toEqual([]);
  expect(summary.variability.executions).toEqual({ planned: 8, complete: 8 });
  expect(summary.variability.table.map(({ n }) => n)).toEqual([16, 16, 16, 16]);
  for (const { cpuBiasPct } of summary.variability.table) expect(cpuBiasPct).not.toBeNull();
  expect(summary.variability.occupancy.nodes.map(({ pods }) => pods)).toEqual([0, 1]);
  expect(notes[0]).toMatch(/cgroup v[12]|Not enforced/);
  const written: unknown = JSON.parse(await readFile(join(folder, 'summary.json'), 'utf8'));
  const rebuilt = await rebuildReport(folder);
  expect(JSON.parse(JSON.stringify(rebuilt.summary))).toEqual(written);
  expect(await readdir(folder)).not.toContain('INVALID');
});

test('runVariability at an abort: the complete executions are reported, groups are gone', async () => {
  const abort = new AbortController();
  const details: string[] = [];
  const { summary, folder } = await runVariability(
    optionsFor(
      { ...TINY, executions: '50' },
      {
        signal: abort.signal,
        onNote: (line) => details.push(line),
        onProgress: ({ done }) => {
          if (done === 2) abort.abort(new Error('Interrupted'));
        },
      },
    ),
  );
  expect(summary.valid).toBe(false);
  expect(summary.problems[0]).toContain('Interrupted: 2 of 200');
  expect(await readdir(folder)).toContain('report.html');
  const group = / in (\/\S+)$/.exec(details[0] ?? '')?.[1];
  if (group !== undefined) await expect(readdir(group)).rejects.toThrow('ENOENT');
});

test('runVariability aborted before anything is complete: invalid, and the reason is thrown', async () => {
  const abort = new AbortController();
  const run = runVariability(
    optionsFor(TINY, {
      signal: abort.signal,
      name: 'nothing',
      onProgress: () => abort.abort(new Error('Interrupted at once')),
    }),
  );
  await expect(run).rejects.toThrow('Interrupted at once');
  const folder = (await readdir(results)).find((name) => name.endsWith('-nothing')) ?? '';
  expect(await readFile(join(results, folder, 'INVALID'), 'utf8')).toContain('Interrupted');
});

import { expect, test } from 'vitest';
import { burstSummaries } from './burst-summary.ts';
import { exampleBurst } from './testing/example-records.ts';

test('burstSummaries: by stage, times of the CPU bursts, error of whole cpuTime bursts', () => {
  const bursts = [
    exampleBurst(1, { cpuMs: 50.25 }),
    exampleBurst(2, { cpuMs: 10, aborted: true }),
    exampleBurst(3, { kind: 'work', cpuMs: 60, readyMs: null }),
    exampleBurst(4, { kind: 'delay', place: 'after', cpuMs: 0, wallMs: 20 }),
    exampleBurst(1, { stage: 'data-provider' }),
  ];
  const summaries = burstSummaries(bursts, { export: 2 });
  expect(Object.keys(summaries)).toEqual(['export', 'data-provider']);
  expect(summaries['export']).toMatchObject({
    n: 4,
    aborted: 1,
    lost: 2,
    kinds: { 'cpuTime@instead': 2, 'work@instead': 1, 'delay@after': 1 },
    cpuMs: { n: 3, max: 60 },
    cpuErrorMs: { n: 1, max: 0.25 },
    readyMs: { n: 2 },
    involuntarySwitches: 3,
  });
});

test('burstSummaries of a stage with a demand and no burst: a summary of none', () => {
  expect(burstSummaries([], { export: 0 })['export']).toMatchObject({
    n: 0,
    lost: 0,
    kinds: {},
    cpuMs: { p50: null, n: 0 },
  });
  expect(burstSummaries([], {})).toEqual({});
});

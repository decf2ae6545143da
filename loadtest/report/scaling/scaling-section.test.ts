import { expect, test } from 'vitest';
import type { ColdStartRow, DecisionRow, SampleRow } from '#infra/local/cluster-records.ts';
import { COLD_START_PHASES, coldStartSection, phasesOf } from './cold-start-section.ts';
import { changes } from './decisions-section.ts';
import { scalingSection } from './scaling-section.ts';
import { coresUsed, panicSpans } from './stage-timeline.ts';
import { timelinePanel } from './timeline-panel.ts';

const sample = (atMs: number, over: Partial<SampleRow> = {}): SampleRow => ({
  atMs,
  service: 'stage',
  offeredPerS: 5,
  concurrency: 2,
  queued: 1,
  desired: 2,
  ready: 1,
  starting: 1,
  draining: 0,
  panicking: false,
  path: 'proxy',
  backlog: 3,
  replicas: [],
  ...over,
});

const start: ColdStartRow = {
  service: 'stage',
  replica: 'stage-1',
  fromZero: true,
  requestedMs: 1_000,
  decidedMs: 1_002,
  slotMs: 1_005,
  startDelayMs: 20,
  spawnedMs: 1_025,
  bootedMs: 1_055,
  loadedMs: 1_095,
  listeningMs: 1_105,
  firstResponseMs: 1_115,
};

const decision = (
  atMs: number,
  desired: number | null,
  over: Partial<Extract<DecisionRow, { kind: 'decision' }>['decision']> = {},
): Extract<DecisionRow, { kind: 'decision' }> => ({
  kind: 'decision',
  atMs,
  service: 'stage',
  observation: { stats: [], ready: 1, replicas: 1, pods: [], lag: null },
  decision: {
    desired,
    wanted: desired,
    reason: '<because>',
    limits: ['max-scale'],
    details: { stable: 0.123_456, metric: 'concurrency' },
    panicking: false,
    path: 'proxy',
    againAtMs: null,
    ...over,
  },
});

test('the phases of a cold start are times between recorded moments', () => {
  expect(phasesOf(start)).toEqual({
    decision: 2,
    slot: 3,
    delay: 20,
    boot: 30,
    load: 40,
    listen: 10,
    'first response': 10,
  });
});

test('a moment that never came leaves its phases open', () => {
  const phases = phasesOf({ ...start, requestedMs: null, loadedMs: null, firstResponseMs: null });
  expect(phases).toMatchObject({ decision: null, load: null, 'first response': null, listen: 80 });
});

test('cold starts are one bar and one row a stage, with every phase', () => {
  const { text } = coldStartSection([start, { ...start, service: 'other' }]);
  expect(text.match(/<rect/g)).toHaveLength(2 * COLD_START_PHASES.length);
  expect(text).toContain('spawn to response p50');
  expect(coldStartSection([]).text).toContain('No replica became ready');
});

test('panic spans join neighbouring samples', () => {
  const rows = [false, true, true, false, true].map((panicking, index) =>
    sample((index + 1) * 1_000, { panicking }),
  );
  expect(panicSpans(rows)).toEqual([
    [1_000, 3_000],
    [4_000, 5_000],
  ]);
});

test('cores in use are the CPU time that replicas gained between two samples', () => {
  const replica = (name: string, cpuMs: number) => ({ name, cpuMs, memoryBytes: 1 });
  const rows = [
    sample(1_000, { replicas: [replica('a', 100)] }),
    sample(2_000, { replicas: [replica('a', 600), replica('b', 250)] }),
    sample(4_000, { replicas: [replica('b', 1_250)] }),
  ];
  expect(coresUsed(rows, (ms) => ms / 1_000)).toEqual([
    [0, 0.1],
    [1, 0.75],
    [2, 0.5],
  ]);
});

test('only decisions that changed replicas, panic or path are told', () => {
  const rows = [
    decision(0, 0),
    decision(2_000, 0),
    decision(4_000, null),
    decision(6_000, 2),
    decision(8_000, 2, { panicking: true }),
    decision(10_000, 2, { panicking: true, path: 'serve' }),
  ];
  expect(changes(rows).map(({ atMs }) => atMs)).toEqual([0, 6_000, 8_000, 10_000]);
});

test('a panel draws a value until the next one is known, and breaks where none is', () => {
  const { text } = timelinePanel(
    {
      title: 'Replicas',
      unit: '',
      atLeast: 4,
      series: [
        {
          name: 'ready',
          colour: 1,
          points: [
            [0, 1],
            [5, 4],
            [6, null],
            [8, 2],
            [10, 2],
          ],
        },
      ],
    },
    { fromS: 0, untilS: 10 },
    true,
  );
  const path = /d="([^"]+)"/.exec(text)?.[1];
  // 0 s is at 52 px and 10 s at 992 px; 4 is at the top (6), 0 at the foot (90).
  expect(path).toBe('M52 69H522L522 6H616M804 48H992L992 48H992');
});

test('the section escapes what comes from outside and shows every stage once', () => {
  const { text } = scalingSection({
    records: { replicas: [], coldStarts: [start], samples: [sample(1_000), sample(2_000)] },
    decisions: [decision(1_000, 1), decision(2_000, 2)],
    measured: { fromMs: 0, untilMs: 3_000 },
    policy: 'kpa',
    scaledBy: [
      { service: 'stage', policy: 'kpa', module: null, periodMs: 2_000, config: { window: 1 } },
    ],
    stages: {},
  });
  expect(text).toContain('&lt;because&gt;');
  expect(text).not.toContain('<because>');
  expect(text.match(/<h3>stage<\/h3>/g)).toHaveLength(1);
  expect(text.match(/class="panel"/g)).toHaveLength(5);
  expect(text).toContain('a decision every 2.00 s');
});

import { expect, test } from 'vitest';
import { VirtualClock } from '#kernel/core/clock.ts';
import { coldStartRow, timeLine, type ColdStartCause } from './cold-start-row.ts';

const cause: ColdStartCause = {
  service: 'export',
  replica: 'export-0',
  fromZero: true,
  requestedMs: 990,
  decidedMs: 1_000,
  startDelayMs: 200,
};
/** The cluster started at monotonic 100, when the wall clock said 1,000,100. */
const clock = new VirtualClock(1_000_000);
const line = timeLine(clock, 100);
const marks = { slotMs: 1_310, spawnedMs: 1_320, readyMs: 1_400 };

test('coldStartRow: the phases of a start on the time-line of the cluster', () => {
  const timings = {
    originMs: 1_001_322,
    bootedMs: 1_001_350,
    loadedMs: 1_001_380,
    listeningMs: 1_001_398,
  };
  expect(coldStartRow(cause, { ...marks, timings }, 1_305, line)).toEqual({
    ...cause,
    slotMs: 1_210,
    spawnedMs: 1_220,
    bootedMs: 1_250,
    loadedMs: 1_280,
    listeningMs: 1_298,
    firstResponseMs: 1_305,
  });
});

test('coldStartRow without the process’s own word: listening is when it said so', () => {
  expect(coldStartRow(cause, { ...marks, timings: undefined }, null, line)).toMatchObject({
    bootedMs: null,
    loadedMs: null,
    listeningMs: 1_300,
    firstResponseMs: null,
  });
});

test('coldStartRow: a clock that differs makes no negative phase', () => {
  const early = { originMs: 0, bootedMs: 1_001_319, loadedMs: 1_001_318, listeningMs: 1_001_500 };
  expect(coldStartRow(cause, { ...marks, timings: early }, null, line)).toMatchObject({
    spawnedMs: 1_220,
    bootedMs: 1_220,
    loadedMs: 1_220,
    listeningMs: 1_300,
  });
});

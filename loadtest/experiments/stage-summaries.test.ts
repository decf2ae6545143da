import { expect, test } from 'vitest';
import { stagesSince } from './stage-summaries.ts';

const counts = (delivered: number | null, cpuMs: number | null) => ({
  delivered,
  retried: 0,
  deadLettered: 0,
  redelivered: 0,
  cpuMs,
});

test('stagesSince: what happened between two counts', () => {
  const since = stagesSince({ export: counts(10, 100) }, { export: counts(25, 130) });
  expect(since).toEqual({ export: counts(15, 30) });
});

test('stagesSince of a count that is not known, or of a process that was replaced: null', () => {
  const since = stagesSince(
    { export: counts(null, 100) },
    { export: counts(null, 20), campaign: counts(1, 1) },
  );
  expect(since['export']).toMatchObject({ delivered: null, cpuMs: null });
  expect(since['campaign']).toMatchObject({ delivered: null, cpuMs: null });
});

import { expect, test } from 'vitest';
import { systemClock } from '#kernel/system/system-clock.ts';
import { tracingBench, tracingRows } from './tracing-bench.ts';

const ARMS = [
  'tracing off',
  '1 % sampled',
  'all, by OTLP',
  'all, into the folder',
  'all, by sdk-node without instrumentation',
  'sdk-node with auto-instrumentations',
] as const;

const rowsOf = (...us: readonly number[]) =>
  new Map(
    tracingRows(new Map(ARMS.map((name, at) => [name, [us[at] ?? 0, 9_999]]))).map((row) => [
      row.name,
      row,
    ]),
  );

test('what tracing adds is held against its targets', () => {
  const good = rowsOf(300, 302, 330, 330, 340, 500);
  expect(good.get('added by all, by OTLP')).toMatchObject({ target: '<= 35', met: true });
  expect(good.get('added: all / auto-instrumentations')).toMatchObject({ met: true });
  const bad = rowsOf(300, 302, 420, 330, 340, 500);
  expect(bad.get('added by all, by OTLP')).toMatchObject({ met: false });
  expect(bad.get('added: all / auto-instrumentations')).toMatchObject({ met: false });
});

test(
  'a small run: every arm starts, handles its events and ends',
  { timeout: 120_000 },
  async () => {
    const rows = await tracingBench(systemClock, process.cwd(), {
      starts: 1,
      rounds: 1,
      events: 8,
    });
    const values = rows.filter(({ name }) => name.startsWith('CPU time an event'));
    expect(values.map(({ name }) => name)).toEqual(
      ARMS.map((name) => `CPU time an event, ${name}`),
    );
    for (const { value } of values) expect(value).toBeGreaterThan(0);
  },
);

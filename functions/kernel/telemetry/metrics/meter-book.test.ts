import { expect, test } from 'vitest';
import { MAX_SERIES, MeterBook } from './meter-book.ts';
import { METRIC } from './metric-names.ts';
import { prometheusText } from './prometheus-text.ts';

const identity = { service: 'export', instance: 'export-1', software: 'tachograph/1.2.3', pid: 1 };
const textOf = (book: MeterBook) =>
  prometheusText({ book, identity, startMs: 0, nowMs: () => 1_000 });

test('counters add up by their attributes', () => {
  const book = new MeterBook();
  book.add(METRIC.parked, 1, { reason: 'a' });
  book.add(METRIC.parked, 2, { reason: 'a' });
  book.add(METRIC.parked, 1, { reason: 'b' });
  expect(book.families()).toEqual([
    {
      metric: METRIC.parked,
      points: [
        { attributes: { reason: 'a' }, value: { kind: 'number', value: 3 } },
        { attributes: { reason: 'b' }, value: { kind: 'number', value: 1 } },
      ],
    },
  ]);
});

test('a value on a boundary belongs below it, one above the last into the last bucket', () => {
  const book = new MeterBook();
  for (const value of [1, 2, 2.5, 9]) book.record(METRIC.storeDuration, value, {}, [1, 2, 3]);
  expect(book.families()[0]?.points[0]?.value).toEqual({
    kind: 'histogram',
    boundaries: [1, 2, 3],
    counts: [1, 1, 1, 1],
    sum: 14.5,
    count: 4,
  });
});

test('what is observed is asked for at each collection', () => {
  const book = new MeterBook();
  let queue = 1;
  book.observe(METRIC.burstQueue, (note) => note(queue));
  book.observe(METRIC.burstQueue, (note) => note(7, { stage: 'other' }));
  queue = 3;
  expect(book.families()[0]?.points.map(({ value }) => value)).toEqual([
    { kind: 'number', value: 3 },
    { kind: 'number', value: 7 },
  ]);
});

test('beyond the bound of series values are counted together, and said so', () => {
  const book = new MeterBook();
  for (let n = 0; n < MAX_SERIES + 50; n++) book.add(METRIC.parked, 1, { reason: `r-${n}` });
  const points = book.families()[0]?.points ?? [];
  expect(points).toHaveLength(MAX_SERIES + 1);
  expect(points.at(-1)).toEqual({
    attributes: { 'otel.metric.overflow': 'true' },
    value: { kind: 'number', value: 50 },
  });
});

test('observers that note without end are cut off', () => {
  const book = new MeterBook();
  book.observe(METRIC.backlog, (note) => {
    for (let n = 0; n < 10_000; n++) note(n, { n });
  });
  expect(book.families()[0]?.points).toHaveLength(MAX_SERIES);
});

test('as Prometheus reads it: types, buckets that add up, whose it is on every sample', async () => {
  const book = new MeterBook();
  book.add(METRIC.parked, 2, { 'tachograph.outcome.reason': 'a "quoted"\nreason\\' });
  book.add(METRIC.httpActive, 1);
  book.record(METRIC.storeDuration, 1.5, {}, [1, 2]);
  book.record(METRIC.storeDuration, 5, {}, [1, 2]);
  const own = 'service_name="export",service_instance_id="export-1"';
  const lines = (await textOf(book)).split('\n');
  expect(lines).toContain('# TYPE db_client_operation_duration histogram');
  expect(lines).toContain(`db_client_operation_duration_bucket{${own},le="2"} 1`);
  expect(lines).toContain(`db_client_operation_duration_bucket{${own},le="+Inf"} 2`);
  expect(lines).toContain(`db_client_operation_duration_sum{${own}} 6.5`);
  expect(lines).toContain('# TYPE tachograph_events_parked_total counter');
  expect(lines).toContain(
    `tachograph_events_parked_total{tachograph_outcome_reason="a \\"quoted\\"\\nreason\\\\",${own}} 2`,
  );
  expect(lines).toContain('# TYPE http_server_active_requests gauge');
});

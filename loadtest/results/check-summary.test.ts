import { expect, test } from 'vitest';
import { checkSummary } from './check-summary.ts';
import { deriveSummary } from './run-records.ts';
import { exampleRecords } from './testing/example-records.ts';
import type { Summary } from './summary.ts';

const summaryOf = (): Summary => deriveSummary(exampleRecords()).summary;

test('checkSummary of a derived summary: the same, as JSON too', () => {
  const summary = summaryOf();
  expect(checkSummary(summary)).toBe(summary);
  expect(checkSummary(JSON.parse(JSON.stringify(summary)))).toEqual(summary);
});

test('checkSummary with fields of a later version: accepted', () => {
  const summary = { ...summaryOf(), later: 1 };
  expect(checkSummary(summary)).toBe(summary);
});

const broken: readonly (readonly [string, (summary: Summary) => object, string])[] = [
  ['another schema', (summary) => ({ ...summary, schema: 'x/2' }), '/schema'],
  ['no ledger', (summary) => ({ ...summary, ledger: undefined }), 'ledger'],
  [
    'a negative count',
    (summary) => ({
      ...summary,
      ledger: { ...summary.ledger, frames: { ...summary.ledger.frames, decoded: -1 } },
    }),
    '/ledger/frames/decoded',
  ],
  [
    'a count that is missing',
    (summary) => ({ ...summary, ledger: { ...summary.ledger, batches: { sent: 1 } } }),
    '/ledger/batches',
  ],
  [
    'a quantile as text',
    (summary) => ({ ...summary, latencyMs: { ...summary.latencyMs, p95: '–' } }),
    '/latencyMs/p95',
  ],
  [
    'latency from something else',
    (summary) => ({ ...summary, latencyMs: { ...summary.latencyMs, from: 'sent' } }),
    '/latencyMs/from',
  ],
  [
    'a stage without its counts',
    (summary) => ({ ...summary, stages: { ...summary.stages, export: {} } }),
    '/stages/export',
  ],
];

test.each(broken)('checkSummary with %s: SUMMARY_INVALID naming the place', (_, change, place) => {
  expect(() => checkSummary(change(summaryOf()))).toThrow(place);
});

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

/** A copy with `value` at a path such as /ledger/frames/decoded. */
function changed(summary: Summary, path: string, value: unknown): Summary {
  const copy = structuredClone(summary);
  const keys = path.slice(1).split('/');
  const last = keys.pop() ?? '';
  let place = copy as unknown as Record<string, unknown>;
  for (const key of keys) place = place[key] as Record<string, unknown>;
  place[last] = value;
  return copy;
}

/** Paths of every number of a summary. */
function numbersOf(node: unknown, path = ''): string[] {
  if (typeof node === 'number') return [path];
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) => numbersOf(value, `${path}/${key}`));
}

test.each([
  '/later',
  '/ledger/later',
  '/ledger/frames/later',
  '/latencyMs/later',
  '/stages/export/later',
  '/stages/vehicles/later',
  '/environment/later',
])('checkSummary with a field of a later version, %s: accepted', (path) => {
  const summary = changed(summaryOf(), path, 1);
  expect(checkSummary(summary)).toBe(summary);
});

test('checkSummary with any number below 0: SUMMARY_INVALID naming it', () => {
  // With enough batches for every quantile.
  const { summary } = deriveSummary(exampleRecords(120));
  expect(checkSummary(summary)).toBe(summary);
  const paths = numbersOf(summary);
  expect(paths).toEqual(expect.arrayContaining(['/latencyMs/p99', '/stages/vehicles/lateMs/p50']));
  expect(paths.length).toBeGreaterThan(30);
  const accepted = paths.filter((path) => {
    try {
      checkSummary(changed(summary, path, -1));
      return true;
    } catch (error) {
      expect(String(error)).toContain(path);
      return false;
    }
  });
  expect(accepted).toEqual([]);
});

test('checkSummary of a run that is not valid, with its problems: accepted', () => {
  const summary = { ...summaryOf(), valid: false, problems: ['gave up'] };
  expect(checkSummary(summary)).toBe(summary);
});

const withLedger = (summary: Summary, change: object): object => ({
  ...summary,
  ledger: { ...summary.ledger, ...change },
});

const broken: readonly (readonly [string, (summary: Summary) => object, string])[] = [
  ['another schema', (summary) => ({ ...summary, schema: 'x/2' }), '/schema'],
  ['no ledger', (summary) => ({ ...summary, ledger: undefined }), 'ledger'],
  ['valid with a problem', (summary) => ({ ...summary, problems: ['gave up'] }), '/problems'],
  ['not valid without a problem', (summary) => ({ ...summary, valid: false }), '/problems'],
  [
    'valid with an account that is not balanced',
    (summary) => withLedger(summary, { balanced: false }),
    '/ledger/balanced',
  ],
  ['no verdict', (summary) => ({ ...summary, valid: undefined }), 'valid'],
  ['a problem without words', (summary) => ({ ...summary, valid: false, problems: [''] }), '/0'],
  [
    'half a frame',
    (summary) => changed(summary, '/ledger/frames/decoded', 0.5),
    '/ledger/frames/decoded',
  ],
  [
    'no count of windows in their session alone',
    (summary) => changed(summary, '/ledger/windows/exportedWithSession', undefined),
    '/ledger/windows',
  ],
  [
    'a gap of no vehicle',
    (summary) =>
      withLedger(summary, {
        gaps: [{ vehicle: '', session: 's', firstSeq: 1, lastSeq: 1, planned: true }],
      }),
    '/ledger/gaps/0/vehicle',
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

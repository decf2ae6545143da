import { expect, test } from 'vitest';
import { countTests } from './count-report.ts';

const report = (...files: readonly (readonly [string, readonly string[]])[]): string =>
  JSON.stringify({
    testResults: files.map(([status, results]) => ({
      status,
      assertionResults: results.map((result) => ({ status: result })),
    })),
  });

test.each([
  [
    'tests one by one, skipped ones not',
    report(['passed', ['passed', 'passed', 'skipped']]),
    0,
    2,
    0,
  ],
  ['failed tests', report(['failed', ['passed', 'failed', 'failed']]), 1, 1, 2],
  ['a file that cannot be loaded as one', report(['failed', []], ['passed', ['passed']]), 1, 1, 1],
  ['a failed run without a failed test as one', report(['passed', ['passed']]), 1, 1, 1],
  ['a run without a single test as one failure', report(), 0, 0, 1],
  ['a missing report as one failure', '{}', 1, 0, 1],
])('countTests counts %s', (_, text, exitCode, passed, failed) => {
  expect(countTests(text, exitCode)).toEqual({ passed, failed });
});

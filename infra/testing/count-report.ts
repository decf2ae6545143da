/** As much of the JSON report (vitest's `json` reporter) as is counted. */
interface TestReport {
  readonly testResults?: readonly {
    readonly status?: string;
    readonly assertionResults?: readonly { readonly status?: string }[];
  }[];
}

/**
 * Tests passed and failed. A file that failed without a failed test of its own (it could not be loaded)
 * counts as one failure, and so does a run that failed for no reason the report knows, such as an error
 * outside any test or a report that was never written.
 */
export function countTests(
  reportText: string,
  exitCode: number,
): { readonly passed: number; readonly failed: number } {
  const { testResults = [] } = JSON.parse(reportText) as TestReport;
  let passed = 0;
  let failed = 0;
  for (const { status, assertionResults = [] } of testResults) {
    const failures = assertionResults.filter((result) => result.status === 'failed').length;
    passed += assertionResults.filter((result) => result.status === 'passed').length;
    failed += status === 'failed' && failures === 0 ? 1 : failures;
  }
  const unexplained = failed === 0 && (exitCode !== 0 || passed === 0);
  return { passed, failed: unexplained ? 1 : failed };
}

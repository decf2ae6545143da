import { readFileSync } from 'node:fs';
import process from 'node:process';
import { countTests } from './count-report.ts';

/** `node count-tests.ts REPORT EXIT_CODE` prints "PASSED FAILED" of a run of the tests. */
const [report = '', exitCode = '1'] = process.argv.slice(2);

function read(): string {
  try {
    return readFileSync(report, 'utf8');
  } catch (error) {
    process.stderr.write(`no report of the tests: ${(error as Error).message}\n`);
    return '{}';
  }
}

const { passed, failed } = countTests(read(), Number(exitCode));
process.stdout.write(`${passed} ${failed}\n`);

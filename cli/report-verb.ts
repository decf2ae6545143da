import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { rebuildReport } from '#loadtest/report/rebuild-report.ts';
import { checkSummary } from '#loadtest/results/check-summary.ts';
import { SUMMARY_FILE } from '#loadtest/results/result-folder.ts';
import type { Verb } from './verb.ts';

/** `tachograph report DIR`. */
export const reportVerb: Verb = {
  name: 'report',
  summary: 'rebuilds report.html of a result folder from its raw files alone',
  details: [
    'Reads config.json, run.json, environment.json and the raw records of its kind (events and facts with',
    'the exported files; executions and bursts of a variability study); works out the summary anew and',
    'fails when summary.json says something else.',
  ],
  options: {},
  operands: { text: '[DIR]', max: 1 },
  async run({ root, operands, terminal }) {
    const folder = resolve(operands[0] ?? join(root, 'results', 'latest'));
    const { report, summary } = await rebuildReport(folder);
    checkSummary(summary);
    const written: unknown = JSON.parse(await readFile(join(folder, SUMMARY_FILE), 'utf8'));
    const agrees = isDeepStrictEqual(written, JSON.parse(JSON.stringify(summary)));
    terminal.document({ report, agrees, summary });
    if (!agrees) terminal.note(`${SUMMARY_FILE} does not follow from the raw files of ${folder}`);
    terminal.print(report);
    return agrees ? 0 : 1;
  },
};

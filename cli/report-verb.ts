import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { writeReport } from '#loadtest/report/write-report.ts';
import { checkSummary } from '#loadtest/results/check-summary.ts';
import { SUMMARY_FILE } from '#loadtest/results/result-folder.ts';
import { deriveSummary, readRunRecords } from '#loadtest/results/run-records.ts';
import type { Verb } from './verb.ts';

/** `tachograph report DIR`. */
export const reportVerb: Verb = {
  name: 'report',
  summary: 'rebuilds report.html of a result folder from its raw files alone',
  details: [
    'Reads config.json, run.json, environment.json, events.ndjson, facts.ndjson and the exported files;',
    'works out the summary anew and fails when summary.json says something else.',
  ],
  options: {},
  operands: { text: '[DIR]', max: 1 },
  async run({ root, operands, terminal }) {
    const folder = resolve(operands[0] ?? join(root, 'results', 'latest'));
    const records = await readRunRecords(folder);
    const summary = checkSummary(deriveSummary(records).summary);
    const report = await writeReport(folder, records);
    const written: unknown = JSON.parse(await readFile(join(folder, SUMMARY_FILE), 'utf8'));
    const agrees = isDeepStrictEqual(written, JSON.parse(JSON.stringify(summary)));
    terminal.document({ report, agrees, summary });
    if (!agrees) terminal.note(`${SUMMARY_FILE} does not follow from the raw files of ${folder}`);
    terminal.print(report);
    return agrees ? 0 : 1;
  },
};

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { indexFacts } from '#loadtest/ledger/fact-index.ts';
import { EXPORT_FOLDER, REPORT_FILE } from '#loadtest/results/result-folder.ts';
import { deriveSummary } from '#loadtest/results/run-records.ts';
import { renderReport } from './render-report.ts';
import { sessionPlots } from './session-plots.ts';
import type { ExportCard } from '#loadtest/ledger/ledger-fact.ts';
import type { RunRecords } from '#loadtest/results/run-records.ts';
import type { ReportInput } from './render-report.ts';

/** Writes `report.html` from a folder's records and exported files; returns its path. */
export async function writeReport(folder: string, records: RunRecords): Promise<string> {
  const { compacted } = indexFacts(records.facts);
  const exports = [...compacted.values()];
  const text = renderReport({
    config: records.config,
    run: records.run,
    ...deriveSummary(records),
    records: records.records,
    exports,
    plots: await plotsOf(folder, exports),
  });
  const path = join(folder, REPORT_FILE);
  await writeFile(path, text);
  return path;
}

async function plotsOf(
  folder: string,
  exports: readonly ExportCard[],
): Promise<ReportInput['plots']> {
  const [first] = exports;
  if (first === undefined) return null;
  const { vehicle, session } = first;
  const plots = await sessionPlots(join(folder, EXPORT_FOLDER, vehicle, session));
  return { of: `${vehicle}, session ${session}`, plots };
}

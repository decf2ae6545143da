import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { REPORT_FILE } from '#loadtest/results/result-folder.ts';
import type { VariabilityRecords } from '#loadtest/variability/variability-records.ts';
import type { VariabilitySummary } from '#loadtest/variability/variability-summary.ts';
import { renderVariability } from './render-variability.ts';

/** Writes `report.html` from a study's records and what follows from them; returns its path. */
export async function writeVariabilityReport(
  folder: string,
  records: VariabilityRecords,
  summary: VariabilitySummary,
): Promise<string> {
  const path = join(folder, REPORT_FILE);
  await writeFile(path, renderVariability(records, summary));
  return path;
}

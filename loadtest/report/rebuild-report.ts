import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TachographError } from '#kernel/core/errors.ts';
import { CONFIG_FILE } from '#loadtest/results/result-folder.ts';
import { deriveSummary, readRunRecords } from '#loadtest/results/run-records.ts';
import type { Summary } from '#loadtest/results/summary.ts';
import { readVariabilityRecords } from '#loadtest/variability/variability-records.ts';
import { summarizeVariability } from '#loadtest/variability/summarize-variability.ts';
import type { VariabilitySummary } from '#loadtest/variability/variability-summary.ts';
import { writeVariabilityReport } from './variability/write-variability-report.ts';
import { writeReport } from './write-report.ts';

export interface RebuiltReport {
  readonly report: string;
  /** As it follows from the raw files. */
  readonly summary: Summary | VariabilitySummary;
}

/** Writes a folder's `report.html` anew, by the kind that its configuration names. */
export async function rebuildReport(folder: string): Promise<RebuiltReport> {
  if ((await kindOf(folder)) === 'Variability') {
    const records = await readVariabilityRecords(folder);
    const summary = summarizeVariability(records);
    return { report: await writeVariabilityReport(folder, records, summary), summary };
  }
  const records = await readRunRecords(folder);
  const { summary } = deriveSummary(records);
  return { report: await writeReport(folder, records), summary };
}

async function kindOf(folder: string): Promise<unknown> {
  try {
    const config: unknown = JSON.parse(await readFile(join(folder, CONFIG_FILE), 'utf8'));
    return typeof config === 'object' && config !== null && 'kind' in config ? config.kind : null;
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    throw new TachographError('RESULT_UNREADABLE', { folder, detail }, { cause: error });
  }
}

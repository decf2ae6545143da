import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RECORD_FILES } from '#infra/local/cluster-recorder.ts';
import type { DecisionRow } from '#infra/local/cluster-records.ts';
import { indexFacts } from '#loadtest/ledger/fact-index.ts';
import { readNdjson } from '#loadtest/results/ndjson.ts';
import { EXPORT_FOLDER, REPORT_FILE } from '#loadtest/results/result-folder.ts';
import { deriveSummary } from '#loadtest/results/run-records.ts';
import { renderReport } from './render-report.ts';
import { sessionPlots } from './session-plots.ts';
import type { ExportCard } from '#loadtest/ledger/ledger-fact.ts';
import type { RunRecords } from '#loadtest/results/run-records.ts';
import type { Summary } from '#loadtest/results/summary.ts';
import type { ReportInput } from './render-report.ts';

/** Writes `report.html` from a folder's records and exported files; returns its path. */
export async function writeReport(folder: string, records: RunRecords): Promise<string> {
  const { compacted } = indexFacts(records.facts);
  const exports = [...compacted.values()];
  const derived = deriveSummary(records);
  const text = renderReport({
    config: records.config,
    run: records.run,
    ...derived,
    traces: derived.traces ?? null,
    records: records.records,
    exports,
    plots: await plotsOf(folder, exports),
    scaling: await scalingOf(folder, records, derived.summary),
  });
  const path = join(folder, REPORT_FILE);
  await writeFile(path, text);
  return path;
}

/** What the cluster wrote down, where the run had one of its own. */
async function scalingOf(
  folder: string,
  { config, run, scaling }: RunRecords,
  { stages }: Summary,
): Promise<ReportInput['scaling']> {
  const { policy, scaledBy } = config;
  const { measured } = run;
  if (scaling === undefined || policy === undefined || measured === undefined) return null;
  const path = join(folder, RECORD_FILES.decisions);
  const decisions = await Array.fromAsync(readNdjson<DecisionRow>(path));
  return { records: scaling, decisions, measured, policy, scaledBy: scaledBy ?? [], stages };
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

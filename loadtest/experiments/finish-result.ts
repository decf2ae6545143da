import { writeReport } from '#loadtest/report/write-report.ts';
import { checkSummary } from '#loadtest/results/check-summary.ts';
import { publishResult, SUMMARY_FILE, writeJson } from '#loadtest/results/result-folder.ts';
import { deriveSummary, writeRunRecords, type RunRecords } from '#loadtest/results/run-records.ts';
import { traceWarnings } from '#loadtest/tracing/analyze-traces.ts';
import { removeStore } from './remove-store.ts';
import type { RunResult } from './run-result.ts';

export interface FinishOptions {
  /** The store and the streams stay in the folder. Without the folder's own they are not there. */
  readonly keepStore: boolean;
  readonly signal: AbortSignal;
  readonly onNote: (line: string) => void;
}

/** From the records of a run that has ended to its summary and report; then `latest` points at it. */
export async function finishResult(
  folder: string,
  records: RunRecords,
  { keepStore, signal, onNote }: FinishOptions,
): Promise<RunResult> {
  onNote('Checking the ledger and writing the report');
  await writeRunRecords(folder, records);
  const { summary, traces } = deriveSummary(records);
  if (traces !== undefined) {
    for (const line of traceWarnings(traces, records.spans?.faults ?? []))
      onNote(`Tracing: ${line}`);
  }
  await writeJson(folder, SUMMARY_FILE, checkSummary(summary));
  const report = await writeReport(folder, records);
  if (summary.valid && !keepStore) await removeStore(folder);
  signal.throwIfAborted();
  return { folder, latest: await publishResult(folder), report, summary, records };
}

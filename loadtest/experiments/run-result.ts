import type { RunRecords } from '#loadtest/results/run-records.ts';
import type { Summary } from '#loadtest/results/summary.ts';

/** A run that ended, valid or not. */
export interface RunResult {
  readonly folder: string;
  /** The link that now points at the folder. */
  readonly latest: string;
  readonly report: string;
  readonly summary: Summary;
  readonly records: RunRecords;
}

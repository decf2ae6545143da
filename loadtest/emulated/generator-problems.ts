import type { BatchRecord } from '#loadtest/vehicles/batch-record.ts';

/** Sent later than this after its intended time, a batch counts as late. */
export const LATE_MS = 100;
/** With a larger share of late ones the load was not the one that was asked for. */
export const MAX_LATE_SHARE = 0.05;

/**
 * Why the run says nothing about the asked load, in words; empty when the generator kept up. Its latency
 * counts from the intended time all the same, so a late generator never makes it look better.
 */
export function generatorProblems(
  records: readonly Pick<BatchRecord, 'intendedMs' | 'readyMs'>[],
  held: number,
  maxOutstanding: number,
): readonly string[] {
  const problems: string[] = [];
  const late = records.filter(({ intendedMs, readyMs }) => readyMs - intendedMs > LATE_MS).length;
  if (late > MAX_LATE_SHARE * records.length) {
    const share = ((100 * late) / records.length).toFixed(1);
    problems.push(
      `the generator could not keep up: ${share} % of the batches were sent more than ${LATE_MS} ms late`,
    );
  }
  if (held > 0) {
    problems.push(
      `the load was cut: ${held} batches were held back because ${maxOutstanding} had no answer yet`,
    );
  }
  return problems;
}

import type { BurstRow } from './study-rows.ts';
import type { QosClass, Study } from './study.ts';

/** Bursts of one class and demand. */
export interface StudyCell {
  readonly qos: QosClass;
  readonly demandMs: number;
  readonly rows: readonly BurstRow[];
}

/** The study's cells that have bursts, in the order of classes and demands. */
export const cellsOf = (study: Study, rows: readonly BurstRow[]): readonly StudyCell[] =>
  study.qos
    .flatMap((qos) =>
      study.demands.map(({ ms: demandMs }) => ({
        qos,
        demandMs,
        rows: rows.filter((row) => row.qos === qos && row.demandMs === demandMs),
      })),
    )
    .filter((cell) => cell.rows.length > 0);

/** Rows by execution, in the order they come. */
export function executionsOf(rows: readonly BurstRow[]): readonly (readonly BurstRow[])[] {
  const groups = Map.groupBy(rows, ({ node, qos, execution }) => `${node}/${qos}/${execution}`);
  return [...groups.values()];
}

/** Measured over nominal − 1: an axis that all demands share. */
export const relativeError = ({ wallMs, demandMs }: BurstRow): number => wallMs / demandMs - 1;

/** NaN and infinity are not JSON: null says that there is no such figure. */
export const known = (value: number): number | null => (Number.isFinite(value) ? value : null);

export const percent = (share: number): number | null => known(share * 100);

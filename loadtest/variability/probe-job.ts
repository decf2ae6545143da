import type { ExecutionCell } from './study-order.ts';
import type { BurstRow, ProbeFacts } from './study-rows.ts';
import type { Study } from './study.ts';

/** What a probe process is told, as JSON in its first argument. */
export interface ProbeJob {
  readonly study: Study;
  readonly cell: ExecutionCell;
  /** The group that the process joins before anything else: its `cgroup.procs`; null: none. */
  readonly joinFile: string | null;
}

/** What it prints when it is done, one JSON object a line. */
export type ProbeLine =
  | ({ readonly kind: 'probe' } & ProbeFacts)
  | ({ readonly kind: 'burst' } & BurstRow);

/** What a probe printed, or undefined when it did not get to the end: `probe` comes last. */
export function readProbeLines(
  text: string,
): { readonly probe: ProbeFacts; readonly bursts: readonly BurstRow[] } | undefined {
  const bursts: BurstRow[] = [];
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const { kind, ...row } = JSON.parse(line) as ProbeLine;
    if (kind === 'probe') return { probe: row as ProbeFacts, bursts };
    bursts.push(row as BurstRow);
  }
  return undefined;
}

import type { Clock } from '#kernel/core/clock.ts';
import { must } from '#kernel/core/assert.ts';
import type { ProbeJob } from './probe-job.ts';
import type { ProbeResult } from './probe-process.ts';
import type { NodeNeighbours } from './local-node.ts';
import type { NodeGroups } from './node-groups.ts';
import { burnMs, executionOrder, type ExecutionCell } from './study-order.ts';
import type { BurstRow, ExecutionRow, Occupancy } from './study-rows.ts';
import type { Study } from './study.ts';

/** What a study does to the machine; fakes stand for it in tests. */
export interface StudyMachine {
  readonly clock: Clock;
  readonly groups: NodeGroups;
  startNeighbours(count: number, joinFile: string | null): Promise<NodeNeighbours>;
  measureOccupancy(pids: readonly number[], signal: AbortSignal): Promise<Occupancy>;
  runProbe(job: ProbeJob, maxMs: number, signal: AbortSignal): Promise<ProbeResult>;
}

export interface StudyProgress {
  readonly done: number;
  readonly all: number;
  readonly cell: ExecutionCell;
  readonly elapsedMs: number;
}

export interface StudyRun {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: StudyProgress) => void;
  /** A complete execution: to be written before the next begins. */
  readonly onExecution: (row: ExecutionRow, bursts: readonly BurstRow[]) => Promise<void>;
}

export interface StudyOutcome {
  readonly interrupted: boolean;
  readonly complete: number;
  readonly planned: number;
  /** Executions that failed, in words. */
  readonly problems: readonly string[];
}

/** A probe has a minute, and twenty times what its bursts take on an idle machine. */
const MAX_STRETCH = 20;
const GRACE_MS = 60_000;
/** After so many failures one after the other the rest would fail as well. */
export const MAX_FAILURES = 3;

/**
 * Executes a study: one execution at a time, each beside its node's neighbours, in the study's order.
 * An abort ends the execution in progress at once and returns what is complete.
 */
export async function runStudy(
  study: Study,
  machine: StudyMachine,
  run: StudyRun,
): Promise<StudyOutcome> {
  const cells = executionOrder(study);
  const startMs = machine.clock.monotonicMs();
  const problems: string[] = [];
  let complete = 0;
  let failures = 0;
  for (const [order, cell] of cells.entries()) {
    if (run.signal.aborted || failures === MAX_FAILURES) break;
    const startedMs = machine.clock.monotonicMs() - startMs;
    run.onProgress({ done: order, all: cells.length, cell, elapsedMs: startedMs });
    try {
      const { occupancy, probe, bursts } = await execute(study, cell, machine, run.signal);
      const durationMs = machine.clock.monotonicMs() - startMs - startedMs;
      const row = { ...cell, order, startedMs, durationMs, occupancy, probe };
      await run.onExecution(row, bursts);
      complete += 1;
      failures = 0;
    } catch (error) {
      if (run.signal.aborted) break;
      failures += 1;
      const detail = error instanceof Error ? error.message : String(error);
      problems.push(`Execution ${nameOf(cell)} failed: ${detail}`);
    }
  }
  if (failures === MAX_FAILURES) {
    problems.push(`Given up after ${MAX_FAILURES} failures one after the other`);
  }
  return { interrupted: run.signal.aborted, complete, planned: cells.length, problems };
}

async function execute(
  study: Study,
  cell: ExecutionCell,
  machine: StudyMachine,
  signal: AbortSignal,
): Promise<ProbeResult & { readonly occupancy: Occupancy }> {
  const { groups } = machine;
  const node = must(
    study.nodes.find(({ name }) => name === cell.node),
    'node of the cell',
  );
  const beside = await machine.startNeighbours(
    node.neighbours,
    groups.neighboursJoinFile(cell.node),
  );
  try {
    const occupancy = await machine.measureOccupancy(beside.pids, signal);
    const job = { study, cell, joinFile: groups.probeJoinFile(cell.node, cell.qos) };
    const maxMs = GRACE_MS + MAX_STRETCH * burnMs(study);
    return { ...(await machine.runProbe(job, maxMs, signal)), occupancy };
  } finally {
    await beside.stop();
  }
}

const nameOf = ({ node, qos, execution }: ExecutionCell): string =>
  `${execution + 1} on ${node} (${qos})`;

import { expect, test } from 'vitest';
import { VirtualClock } from '#kernel/core/clock.ts';
import { namesOnly } from './node-groups.ts';
import { MAX_FAILURES, runStudy, type StudyMachine } from './run-study.ts';
import { executionOrder } from './study-order.ts';
import { exampleStudy, PROBE } from './testing/example-study.ts';
import type { ProbeJob } from './probe-job.ts';
import type { ExecutionRow } from './study-rows.ts';

const study = exampleStudy();

interface Watched {
  readonly machine: StudyMachine;
  readonly jobs: ProbeJob[];
  running: number;
  most: number;
}

function watchedMachine(probe: (job: ProbeJob, count: number) => void): Watched {
  const watched: Watched = { machine: {} as StudyMachine, jobs: [], running: 0, most: 0 };
  const machine: StudyMachine = {
    clock: new VirtualClock(),
    groups: namesOnly('fake'),
    startNeighbours: async (count) => {
      watched.running += count;
      watched.most = Math.max(watched.most, watched.running);
      return {
        pids: Array.from({ length: count }, (_, index) => index + 1),
        stop: async () => {
          watched.running -= count;
        },
      };
    },
    measureOccupancy: async (pids) => ({
      pods: pids.length,
      millicores: pids.length * 150,
      machineMillicores: 0,
      windowMs: 250,
    }),
    runProbe: async (job) => {
      watched.jobs.push(job);
      probe(job, watched.jobs.length);
      return { probe: PROBE, bursts: [] };
    },
  };
  return Object.assign(watched, { machine });
}

function collect(): {
  readonly rows: ExecutionRow[];
  readonly onExecution: (row: ExecutionRow) => Promise<void>;
} {
  const rows: ExecutionRow[] = [];
  return {
    rows,
    onExecution: async (row) => {
      rows.push(row);
    },
  };
}

const quiet = { onProgress: (): void => {} };

test('runStudy: every execution in its order, beside the neighbours of its node alone', async () => {
  const watched = watchedMachine(() => {});
  const { rows, onExecution } = collect();
  const signal = new AbortController().signal;
  const outcome = await runStudy(study, watched.machine, { ...quiet, signal, onExecution });
  expect(outcome).toEqual({ interrupted: false, complete: 30, planned: 30, problems: [] });
  expect(watched.jobs.map(({ cell }) => cell)).toEqual(executionOrder(study));
  for (const { node, occupancy } of rows) {
    expect(occupancy.pods).toBe(Number(node.slice(-1)) - 1);
  }
  expect({ running: watched.running, most: watched.most }).toEqual({ running: 0, most: 4 });
});

test('runStudy at an abort: what is complete, and nothing runs on', async () => {
  const abort = new AbortController();
  const watched = watchedMachine((_, count) => {
    if (count !== 5) return;
    abort.abort(new Error('Interrupted'));
    abort.signal.throwIfAborted();
  });
  const { rows, onExecution } = collect();
  const run = { ...quiet, signal: abort.signal, onExecution };
  const outcome = await runStudy(study, watched.machine, run);
  expect(outcome).toEqual({ interrupted: true, complete: 4, planned: 30, problems: [] });
  expect(rows).toHaveLength(4);
  expect(watched.running).toBe(0);
});

test('runStudy with a failed execution: named, and the rest goes on', async () => {
  const watched = watchedMachine((_, count) => {
    if (count === 2) throw new Error('out of memory');
  });
  const { rows, onExecution } = collect();
  const signal = new AbortController().signal;
  const outcome = await runStudy(study, watched.machine, { ...quiet, signal, onExecution });
  expect(outcome.complete).toBe(29);
  expect(rows).toHaveLength(29);
  expect(outcome.problems).toEqual([
    expect.stringMatching(/^Execution 1 on node-\d .*out of memory$/),
  ]);
  expect(watched.running).toBe(0);
});

test('runStudy with failures one after the other: given up after three', async () => {
  const watched = watchedMachine(() => {
    throw new Error('no');
  });
  const { onExecution } = collect();
  const signal = new AbortController().signal;
  const outcome = await runStudy(study, watched.machine, { ...quiet, signal, onExecution });
  expect(watched.jobs).toHaveLength(MAX_FAILURES);
  expect(outcome.problems.at(-1)).toContain('Given up');
});

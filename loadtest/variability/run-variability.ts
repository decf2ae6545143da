import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '#kernel/core/clock.ts';
import { checkSummary } from '#loadtest/results/check-summary.ts';
import { readEnvironment } from '#loadtest/results/environment.ts';
import { toNdjson } from '#loadtest/results/ndjson.ts';
import { writeVariabilityReport } from '#loadtest/report/variability/write-variability-report.ts';
import {
  BURSTS_FILE,
  CONFIG_FILE,
  createResultFolder,
  ENVIRONMENT_FILE,
  EXECUTIONS_FILE,
  markInvalid,
  publishResult,
  RUN_FILE,
  SUMMARY_FILE,
  writeJson,
} from '#loadtest/results/result-folder.ts';
import { measureOccupancy, startNodeNeighbours } from './local-node.ts';
import { namesOnly, openNodeGroups, type NodeGroups } from './node-groups.ts';
import { runProbe } from './probe-process.ts';
import { runStudy, type StudyProgress } from './run-study.ts';
import { summarizeVariability } from './summarize-variability.ts';
import { readVariabilityRecords, type VariabilityConfig } from './variability-records.ts';
import type { Study } from './study.ts';
import type { VariabilitySummary } from './variability-summary.ts';

export interface VariabilityOptions {
  readonly study: Study;
  readonly name: string;
  readonly root: string;
  readonly results: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly machine: {
    readonly pid: number;
    readonly platform: string;
    /** false: nodes are names only, whatever the machine permits. */
    readonly useCgroups: boolean;
    readonly isAlive: (pid: number) => boolean;
  };
  readonly onNote: (line: string) => void;
  readonly onProgress: (progress: StudyProgress) => void;
}

export interface VariabilityResult {
  readonly folder: string;
  readonly report: string;
  readonly summary: VariabilitySummary;
}

/** How long a node is looked at before each execution. */
const OCCUPANCY_WINDOW_MS = 250;

/**
 * Runs a study on this machine and writes its result folder. What is complete at an abort is reported;
 * without one complete execution the folder is marked invalid, and the signal's reason is thrown.
 */
export async function runVariability(options: VariabilityOptions): Promise<VariabilityResult> {
  const { study, name, clock, signal } = options;
  const startedAt = new Date(clock.nowMs()).toISOString();
  const folder = await createResultFolder(options.results, name, clock.nowMs());
  try {
    const config: VariabilityConfig = {
      schema: 'tachograph.config/1',
      kind: 'Variability',
      name,
      study,
    };
    await writeJson(folder, CONFIG_FILE, config);
    await writeJson(folder, ENVIRONMENT_FILE, await readEnvironment(options.root, null));
    await writeFile(join(folder, BURSTS_FILE), '');
    await writeFile(join(folder, EXECUTIONS_FILE), '');
    await measure(folder, startedAt, options);
    const records = await readVariabilityRecords(folder);
    if (records.executions.length === 0) {
      signal.throwIfAborted();
      throw new Error(`No execution was completed: ${records.run.problems.join('; ')}`);
    }
    const summary = checkSummary(summarizeVariability(records));
    await writeJson(folder, SUMMARY_FILE, summary);
    const report = await writeVariabilityReport(folder, records, summary);
    await publishResult(folder);
    return { folder, report, summary };
  } catch (error) {
    await markInvalid(folder, error instanceof Error ? error.message : String(error));
    throw error;
  }
}

async function measure(
  folder: string,
  startedAt: string,
  options: VariabilityOptions,
): Promise<void> {
  const { study, clock, signal, onNote, onProgress } = options;
  const startMs = clock.monotonicMs();
  const groups = await openGroups(options);
  const { enforced, cgroup, detail } = groups.enforcement;
  onNote(
    enforced
      ? `Quota and weight by cgroup ${cgroup ?? ''} in ${detail}`
      : `Not enforced: nodes and classes are names only (${detail})`,
  );
  try {
    const outcome = await runStudy(
      study,
      {
        clock,
        groups,
        startNeighbours: startNodeNeighbours,
        measureOccupancy: (pids, abort) =>
          measureOccupancy(pids, OCCUPANCY_WINDOW_MS, { clock, signal: abort }),
        runProbe: (job, maxMs, abort) => runProbe(job, maxMs, { clock, signal: abort }),
      },
      {
        signal,
        onProgress,
        onExecution: async (row, bursts) => {
          await appendFile(join(folder, BURSTS_FILE), toNdjson(bursts));
          await appendFile(join(folder, EXECUTIONS_FILE), toNdjson([row]));
        },
      },
    );
    const { interrupted, planned, problems } = outcome;
    const durationMs = clock.monotonicMs() - startMs;
    await writeJson(folder, RUN_FILE, {
      schema: 'tachograph.run/1',
      startedAt,
      durationMs,
      enforcement: groups.enforcement,
      interrupted,
      planned,
      problems,
    });
  } finally {
    await groups.close();
  }
}

const openGroups = ({ study, clock, machine }: VariabilityOptions): Promise<NodeGroups> =>
  machine.useCgroups
    ? openNodeGroups(study, { ...machine, clock })
    : Promise.resolve(namesOnly('not asked for'));

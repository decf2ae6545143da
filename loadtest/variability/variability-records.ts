import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TachographError } from '#kernel/core/errors.ts';
import type { Environment } from '#loadtest/results/environment.ts';
import { readNdjson } from '#loadtest/results/ndjson.ts';
import {
  BURSTS_FILE,
  CONFIG_FILE,
  ENVIRONMENT_FILE,
  EXECUTIONS_FILE,
  RUN_FILE,
} from '#loadtest/results/result-folder.ts';
import type { Enforcement } from './node-groups.ts';
import type { BurstRow, ExecutionRow } from './study-rows.ts';
import type { Study } from './study.ts';

/** `config.json` of a study. */
export interface VariabilityConfig {
  readonly schema: 'tachograph.config/1';
  readonly kind: 'Variability';
  readonly name: string;
  readonly study: Study;
}

/** `run.json` of a study. */
export interface VariabilityRun {
  readonly schema: 'tachograph.run/1';
  readonly startedAt: string;
  readonly durationMs: number;
  readonly enforcement: Enforcement;
  readonly interrupted: boolean;
  readonly planned: number;
  readonly problems: readonly string[];
}

/** The raw files of a study's result folder: summary and report follow from them alone. */
export interface VariabilityRecords {
  readonly config: VariabilityConfig;
  readonly run: VariabilityRun;
  readonly environment: Environment;
  readonly executions: readonly ExecutionRow[];
  /** Of complete executions only. */
  readonly bursts: readonly BurstRow[];
}

/** Throws RESULT_UNREADABLE for a folder without these files, or with files that cannot be parsed. */
export async function readVariabilityRecords(folder: string): Promise<VariabilityRecords> {
  try {
    const executions = await Array.fromAsync(
      readNdjson<ExecutionRow>(join(folder, EXECUTIONS_FILE)),
    );
    // An execution's bursts are written before its own line: without it they are not complete.
    const complete = new Set(executions.map(keyOf));
    const bursts = await Array.fromAsync(readNdjson<BurstRow>(join(folder, BURSTS_FILE)));
    return {
      config: await readJson<VariabilityConfig>(folder, CONFIG_FILE),
      run: await readJson<VariabilityRun>(folder, RUN_FILE),
      environment: await readJson<Environment>(folder, ENVIRONMENT_FILE),
      executions,
      bursts: bursts.filter((row) => complete.has(keyOf(row))),
    };
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    throw new TachographError('RESULT_UNREADABLE', { folder, detail }, { cause: error });
  }
}

const keyOf = ({ node, qos, execution }: BurstRow | ExecutionRow): string =>
  `${node}/${qos}/${execution}`;

const readJson = async <T>(folder: string, file: string): Promise<T> =>
  JSON.parse(await readFile(join(folder, file), 'utf8')) as T;

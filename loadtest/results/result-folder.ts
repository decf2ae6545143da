import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { toNdjson } from './ndjson.ts';

/** The files of a result folder. */
export const SUMMARY_FILE = 'summary.json';
export const EVENTS_FILE = 'events.ndjson';
export const FACTS_FILE = 'facts.ndjson';
/** Of a run whose stages executed demands, and of a variability study. */
export const BURSTS_FILE = 'bursts.ndjson';
/** Of a variability study. */
export const EXECUTIONS_FILE = 'executions.ndjson';
export const CONFIG_FILE = 'config.json';
export const RUN_FILE = 'run.json';
export const ENVIRONMENT_FILE = 'environment.json';
export const REPORT_FILE = 'report.html';
export const EXPORT_FOLDER = 'export';
export const RUN_FOLDER = 'run';
/** The kustomization of an experiment. */
export const MANIFESTS_FOLDER = 'manifests';
/** In the folder of a run that did not end: its results must not be used. */
export const INVALID_FILE = 'INVALID';

/** Folders of one second and name before it is given up. */
export const MAX_NAMESAKES = 100;

/**
 * Makes `<results>/<YYYY-MM-DDTHH-MM-SS>-<name>`, with `-2`, `-3` … behind it where there is one from
 * the same second. It is marked INVALID until `publishResult`.
 */
export async function createResultFolder(
  results: string,
  name: string,
  nowMs: number,
): Promise<string> {
  await mkdir(results, { recursive: true });
  const time = new Date(nowMs).toISOString().slice(0, 19).replaceAll(':', '-');
  for (let copy = 1; copy <= MAX_NAMESAKES; copy++) {
    const folder = join(results, `${time}-${name}${copy === 1 ? '' : `-${copy}`}`);
    try {
      await mkdir(folder);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue;
      throw error;
    }
    await writeFile(join(folder, INVALID_FILE), 'The run has not ended.\n');
    return folder;
  }
  throw new Error(`${results} has ${MAX_NAMESAKES} results of ${time}-${name}`);
}

/** Removes the mark and points `latest` at the folder, in one step: a reader never finds no `latest`. */
export async function publishResult(folder: string): Promise<string> {
  await rm(join(folder, INVALID_FILE), { force: true });
  const latest = join(dirname(folder), 'latest');
  const next = join(dirname(folder), `.latest-${basename(folder)}`);
  await rm(next, { force: true });
  await symlink(basename(folder), next);
  await rename(next, latest);
  return latest;
}

/** Says why the folder's results must not be used. */
export const markInvalid = (folder: string, reason: string): Promise<void> =>
  writeFile(join(folder, INVALID_FILE), `${reason}\n`);

export const writeJson = (folder: string, file: string, value: unknown): Promise<void> =>
  writeFile(join(folder, file), `${JSON.stringify(value, undefined, 2)}\n`);

export const writeRecords = (
  folder: string,
  file: string,
  records: Iterable<unknown>,
): Promise<void> => writeFile(join(folder, file), toNdjson(records));

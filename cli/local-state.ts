import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makePrivateFolder } from '#infra/local/private-folder.ts';
import { processIdentity } from './process-identity.ts';

/** What `up` leaves for the other verbs to find the running pipeline by. */
export interface LocalState {
  readonly pid: number;
  /** Tells the process from a later one with the same id. */
  readonly identity: string;
  readonly gatewayUrl: string;
  readonly brokerUrl: string;
  readonly natsUrl: string;
  /** Where its collector takes spans, and the folder that has them; null: it is not traced. */
  readonly spansUrl: string | null;
  readonly spansDir: string;
  readonly services: readonly string[];
  readonly dataDir: string;
  readonly storeUrl: string;
  /** File with the engineers' token, readable by its owner alone. */
  readonly tokenFile: string;
}

const stateFile = (home: string): string => join(home, 'local.json');

/** The pipeline that runs, or undefined. What a killed one left is removed. */
export async function readLocalState(home: string): Promise<LocalState | undefined> {
  let text: string;
  try {
    text = await readFile(stateFile(home), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const state = JSON.parse(text) as LocalState;
  if ((await processIdentity(state.pid)) === state.identity) return state;
  await removeLocalState(home);
  return undefined;
}

/** Written under another name first: a reader sees the whole or nothing. */
export async function writeLocalState(home: string, state: LocalState): Promise<void> {
  await makePrivateFolder(home);
  const path = stateFile(home);
  const draft = `${path}.${state.pid}`;
  await writeFile(draft, `${JSON.stringify(state, undefined, 2)}\n`, { mode: 0o600 });
  await rename(draft, path);
}

export async function removeLocalState(home: string): Promise<void> {
  await rm(stateFile(home), { force: true });
}

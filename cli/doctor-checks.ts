import { execFile } from 'node:child_process';
import { access, constants, readFile, stat, statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import { availableParallelism } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { searchNats } from '#infra/local/local-nats.ts';
import { isAlive } from '#infra/local/replicas/is-alive.ts';
import { openReplicaGroups } from '#infra/local/replicas/replica-groups.ts';
import { systemClock } from '#kernel/system/system-clock.ts';
import { readLocalState } from './local-state.ts';

/** One thing the machine has or lacks. */
export interface DoctorCheck {
  readonly name: string;
  readonly ok: boolean;
  /** Without it `make demo` or `make test` cannot work. */
  readonly required: boolean;
  /** What was found, or why not. */
  readonly found: string;
  readonly details: readonly string[];
  /** What to do where it is missing; '' for what is there. */
  readonly remedy: string;
}

export interface DoctorSurroundings {
  readonly root: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const run = promisify(execFile);
const PROBE_TIMEOUT_MS = 5_000;
const MIN_FREE_BYTES = 1024 ** 3;
const DEFAULT_PORT = 8080;

/** Looks at everything side by side; a look that fails is a finding, not an error. */
export function doctorChecks(surroundings: DoctorSurroundings): Promise<DoctorCheck[]> {
  return Promise.all([
    checkNode(surroundings),
    checkModules(surroundings),
    checkNats(surroundings),
    checkDisk(surroundings),
    checkPort(surroundings),
    checkLimits(),
    checkProgram(surroundings, GO),
    checkProgram(surroundings, MONGOD),
    checkProgram(surroundings, PYTHON),
    checkProgram(surroundings, CHROMIUM),
  ]);
}

const found = (
  name: string,
  required: boolean,
  text: string,
  details: readonly string[] = [],
): DoctorCheck => ({ name, ok: true, required, found: text, details, remedy: '' });

const missing = (
  name: string,
  required: boolean,
  text: string,
  remedy: string,
  details: readonly string[] = [],
): DoctorCheck => ({ name, ok: false, required, found: text, details, remedy });

async function checkNode({ root }: DoctorSurroundings): Promise<DoctorCheck> {
  const text = await readFile(join(root, 'package.json'), 'utf8');
  const { dependencies } = JSON.parse(text) as { dependencies: Record<string, string> };
  const pinned = dependencies['node'] ?? 'none';
  const actual = process.versions.node;
  if (actual === pinned) return found('node', true, `${actual}, as pinned`);
  return missing('node', true, `${actual}, pinned is ${pinned}`, 'run "make setup"');
}

async function checkModules({ root }: DoctorSurroundings): Promise<DoctorCheck> {
  const name = 'npm modules';
  const remedy = 'run "make setup"';
  try {
    const [lock, installed] = await Promise.all([
      stat(join(root, 'package-lock.json')),
      stat(join(root, 'node_modules', '.package-lock.json')),
    ]);
    if (installed.mtimeMs >= lock.mtimeMs) return found(name, true, 'installed');
    return missing(name, true, 'package-lock.json is newer than what is installed', remedy);
  } catch (error) {
    return missing(name, true, (error as Error).message, remedy);
  }
}

async function checkNats({ root, env }: DoctorSurroundings): Promise<DoctorCheck> {
  const search = await searchNats(
    { root, env, platform: process.platform, architecture: process.arch },
    { install: false },
  );
  const details = search.attempts.map(({ source, ok, detail }) => {
    return `${ok ? 'used' : 'not '} ${source}: ${detail}`;
  });
  const used = search.attempts.find(({ ok }) => ok);
  if (used !== undefined) return found('nats-server', true, used.detail, details);
  return missing('nats-server', true, 'none that can be used yet', 'run "make setup"', details);
}

async function checkDisk({ root }: DoctorSurroundings): Promise<DoctorCheck> {
  const { bavail, bsize } = await statfs(root);
  const free = bavail * bsize;
  const text = `${(free / 1024 ** 3).toFixed(1)} GiB free in ${root}`;
  if (free >= MIN_FREE_BYTES) return found('disk', true, text);
  return missing('disk', true, text, 'free at least 1 GiB');
}

/** The port of `up`; the demo and the tests take any free one. */
async function checkPort({ home }: DoctorSurroundings): Promise<DoctorCheck> {
  const name = `port ${DEFAULT_PORT}`;
  const state = await readLocalState(home);
  if (state?.gatewayUrl.endsWith(`:${DEFAULT_PORT}`) === true) {
    return found(name, false, `used by the pipeline that is running (process ${state.pid})`);
  }
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(DEFAULT_PORT, '127.0.0.1', resolve);
    });
    return found(name, false, 'free for "make up"');
  } catch (error) {
    const remedy = 'use "make up PORT=0", or free it';
    return missing(name, false, (error as Error).message, remedy);
  } finally {
    server.close();
  }
}

/** Whether CPU and memory limits of replicas hold here: studies of them refuse to run where they do not. */
async function checkLimits(): Promise<DoctorCheck> {
  const name = 'limits';
  const groups = await openReplicaGroups({
    pid: process.pid,
    platform: process.platform,
    cores: availableParallelism(),
    clock: systemClock,
    isAlive,
  });
  await groups.close();
  const { cpu, memory, why } = groups.enforcement;
  const text = `CPU of replicas: ${cpu}; memory: ${memory}`;
  if (cpu !== 'none') return found(name, false, text);
  const remedy =
    'optional: studies with CPU limits or nodes need cgroups that may be written: run them as root, or ' +
    'in a delegated subtree (systemd-run --user --scope -p Delegate=yes)';
  return missing(name, false, `${text} (${why})`, remedy);
}

interface Program {
  readonly name: string;
  readonly commands: readonly string[];
  readonly versionArgs: readonly string[];
  readonly use: string;
}

const GO: Program = {
  name: 'go',
  commands: ['go'],
  versionArgs: ['version'],
  use: 'builds nats-server where it cannot be downloaded, and the MongoDB test server',
};
const MONGOD: Program = {
  name: 'mongod',
  commands: ['mongod'],
  versionArgs: ['--version'],
  use: "the store's tests against MongoDB; without it a Go program stands in",
};
const PYTHON: Program = {
  name: 'python',
  commands: ['python3', 'python'],
  versionArgs: ['--version'],
  use: 'makes the decoder fixtures anew, and runs the Python client of the examples',
};
const CHROMIUM: Program = {
  name: 'chromium',
  commands: ['chromium', 'chromium-browser', 'google-chrome'],
  versionArgs: ['--version'],
  use: 'makes the screenshot of the report',
};

async function checkProgram(
  { env }: DoctorSurroundings,
  { name, commands, versionArgs, use }: Program,
): Promise<DoctorCheck> {
  for (const command of commands) {
    const path = await onPath(command, env['PATH'] ?? '');
    if (path === undefined) continue;
    try {
      const { stdout } = await run(path, [...versionArgs], { timeout: PROBE_TIMEOUT_MS });
      return found(name, false, stdout.trim().split('\n', 1)[0] ?? path);
    } catch (error) {
      const text = `${path} does not run: ${(error as Error).message.split('\n', 1)[0] ?? ''}`;
      return missing(name, false, text, `optional: ${use}`);
    }
  }
  return missing(name, false, `no ${commands.join(', ')} on the PATH`, `optional: ${use}`);
}

async function onPath(command: string, searchPath: string): Promise<string | undefined> {
  for (const folder of searchPath.split(delimiter)) {
    if (folder === '') continue;
    const path = join(folder, command);
    try {
      await access(path, constants.X_OK);
      return path;
    } catch (error) {
      // Most folders of a PATH do not have it; anything but that is the same to a doctor.
      if (!(error instanceof Error)) throw error;
    }
  }
  return undefined;
}

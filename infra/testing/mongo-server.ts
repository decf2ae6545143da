import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { must } from '#kernel/core/assert.ts';
import { sha256Hex } from '#kernel/system/sha256.ts';

/** A server for the tests that need one, or the reason why there is none. */
export interface MongoServer {
  readonly url: string | null;
  /** Empty with a URL; else what was tried, one clause a way. */
  readonly reason: string;
  stop(): Promise<void>;
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const GO_PROGRAM = join(ROOT, 'infra/testing/ferretdb');
const CACHE = join(ROOT, '.tachograph/cache');
const START_LIMIT_MS = 30_000;
const BUILD_LIMIT_MS = 600_000;

/**
 * Finds a server that speaks MongoDB's protocol: the one that TACHOGRAPH_TEST_MONGODB_URL names,
 * else
 * `mongod` on the PATH, else FerretDB (infra/testing/ferretdb), built with Go into the cache
 * folder.
 */
export async function startMongoServer(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<MongoServer> {
  const given = environment['TACHOGRAPH_TEST_MONGODB_URL'];
  if (given !== undefined && given !== '') return { url: given, reason: '', stop: async () => {} };
  const tried = ['TACHOGRAPH_TEST_MONGODB_URL is not set'];
  for (const way of [startMongod, startFerretDb]) {
    try {
      return await way();
    } catch (error) {
      tried.push(error instanceof Error ? error.message : String(error));
    }
  }
  return { url: null, reason: tried.join('; '), stop: async () => {} };
}

async function startMongod(): Promise<MongoServer> {
  if (spawnSync('mongod', ['--version']).status !== 0) throw new Error('mongod is not on the PATH');
  const folder = mkdtempSync(join(tmpdir(), 'tachograph-mongod-'));
  const port = await freePort();
  const options = ['--bind_ip', '127.0.0.1', '--port', String(port), '--dbpath', folder];
  // A replica set of one, so that majority reads and writes mean what they do in production.
  const set = ['--replSet', 'test', '--nounixsocket'];
  const child = spawn('mongod', [...options, ...set], { stdio: ['ignore', 'pipe', 'ignore'] });
  const url = `mongodb://127.0.0.1:${port}/?replicaSet=test`;
  await lineOf(child, 'mongod', (line) => (line.includes('Waiting for connections') ? url : null));
  const { MongoClient } = await import('mongodb');
  const direct = new MongoClient(`mongodb://127.0.0.1:${port}/?directConnection=true`);
  const member = { _id: 0, host: `127.0.0.1:${port}` };
  await direct.db('admin').command({ replSetInitiate: { _id: 'test', members: [member] } });
  await direct.close();
  return { url, reason: '', stop: () => stop(child, folder) };
}

async function startFerretDb(): Promise<MongoServer> {
  const program = builtFerretDb();
  const folder = mkdtempSync(join(tmpdir(), 'tachograph-ferretdb-'));
  // It ends when its standard input closes, thus also when this process is killed.
  const child = spawn(program, ['127.0.0.1:0', folder], { stdio: ['pipe', 'pipe', 'ignore'] });
  const url = await lineOf(child, 'FerretDB', (line) =>
    line.startsWith('mongodb://') ? line.trim() : null,
  );
  return { url, reason: '', stop: () => stop(child, folder) };
}

/**
 * Path of the program; built where the cache lacks it (about 75 s from nothing, named by its
 * sources' hash).
 */
function builtFerretDb(): string {
  const sources = ['go.mod', 'go.sum', 'main.go'].map((name) =>
    readFileSync(join(GO_PROGRAM, name), 'utf8'),
  );
  const program = join(CACHE, `ferretdb-${sha256Hex(sources.join('\0')).slice(0, 16)}`);
  if (spawnSync(program, [], { timeout: START_LIMIT_MS }).error === undefined) return program;
  mkdirSync(CACHE, { recursive: true });
  const build = spawnSync('go', ['build', '-o', program, '.'], {
    cwd: GO_PROGRAM,
    timeout: BUILD_LIMIT_MS,
    encoding: 'utf8',
  });
  if (build.error !== undefined) throw new Error(`go cannot be run (${build.error.message})`);
  if (build.status !== 0) throw new Error(`go build failed (${build.stderr.trim().slice(-300)})`);
  return program;
}

/** What `pick` makes of the first line it accepts. */
function lineOf(
  child: ChildProcess,
  name: string,
  pick: (line: string) => string | null,
): Promise<string> {
  const signal = AbortSignal.timeout(START_LIMIT_MS);
  let started = false;
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => {
      // The limit is for the start: it passes while a server that did start is at work.
      if (started) return;
      child.kill('SIGKILL');
      reject(new Error(`${name} did not start: ${why}`));
    };
    child.once('error', (error) => fail(error.message));
    child.once('exit', (code) => fail(`it ended with ${code}`));
    signal.addEventListener('abort', () => fail(`no sign of life in ${START_LIMIT_MS} ms`));
    // Goes on reading after the line, so that the pipe never fills.
    createInterface({ input: must(child.stdout, 'read the output of a server') }).on(
      'line',
      (line) => {
        const picked = pick(line);
        if (picked === null) return;
        started = true;
        resolve(picked);
      },
    );
  });
}

async function stop(child: ChildProcess, folder: string): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await gone;
  }
  rmSync(folder, { recursive: true, force: true });
}

/** A port that was free a moment ago (mongod cannot report the one it chose). */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => {
        if (typeof address === 'object' && address !== null) resolve(address.port);
        else reject(new Error('The system gave no free port'));
      });
    });
  });
}

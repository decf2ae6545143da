import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { mkdir, mkdtemp, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Clock } from '#kernel/core/clock.ts';
import { TachographError } from '#kernel/core/errors.ts';

/** A running nats-server with JetStream, owned by this process and ended with it. */
export interface NatsServer {
  readonly url: string;
  readonly port: number;
  /** Of nats-server itself, for CPU figures. */
  readonly pid: number;
  readonly logFile: string;
  /** Resolves when nats-server has ended, asked or not; `asked` tells which. */
  readonly exited: Promise<{ readonly asked: boolean; readonly code: number | null }>;
  /** Ends it and waits until it has gone. May be called again. */
  stop(): Promise<void>;
}

export interface NatsServerOptions {
  readonly binary: string;
  /** Streams, configuration and log. */
  readonly storeDir: string;
  readonly clock: Clock;
  /** 0 or absent: any free port. A restart takes the port it had, so that clients come back. */
  readonly port?: number;
  readonly maxStoreBytes?: number;
  /** Threads that run Go code. 1 costs least CPU where it shares few cores with its clients. */
  readonly goMaxProcs?: number;
}

const KEEPER = fileURLToPath(new URL('nats-keeper.ts', import.meta.url));
const DEFAULT_MAX_STORE_BYTES = 4 * 1024 ** 3;
const START_LIMIT_MS = 20_000;
const POLL_MS = 10;
const STOP_LIMIT_MS = 10_000;

/** Starts nats-server on 127.0.0.1 and waits until it listens. Throws NATS_START_FAILED. */
export async function startNatsServer(options: NatsServerOptions): Promise<NatsServer> {
  await mkdir(options.storeDir, { recursive: true });
  // A server that was killed leaves its ports file behind: every start has a folder of its own.
  const portsDir = await mkdtemp(join(options.storeDir, 'ports-'));
  const logFile = join(options.storeDir, 'nats-server.log');
  const configFile = join(options.storeDir, 'nats-server.conf');
  await writeFile(configFile, configuration(options, portsDir));
  const log = await open(logFile, 'a');
  let keeper: ChildProcess;
  try {
    keeper = fork(KEEPER, [...command(options), '-c', configFile], {
      // A group of its own: the terminal's Ctrl-C must not end it before its clients have drained.
      detached: true,
      stdio: ['ignore', log.fd, log.fd, 'ipc'],
      execArgv: [],
    });
  } finally {
    await log.close();
  }
  const running = watch(keeper, options.clock);
  try {
    const pid = await running.pid;
    const url = await listening(portsDir, running, options.clock);
    return {
      url,
      port: Number(new URL(url).port),
      pid,
      logFile,
      exited: running.exited,
      stop: running.stop,
    };
  } catch (error) {
    await running.stop();
    const detail = error instanceof Error ? error.message : String(error);
    throw new TachographError('NATS_START_FAILED', { detail, logFile }, { cause: error });
  } finally {
    await rm(portsDir, { recursive: true, force: true });
  }
}

/** `env` sets the variable and becomes the server: the process id stays the same. */
const command = ({ binary, goMaxProcs }: NatsServerOptions): readonly string[] =>
  goMaxProcs === undefined ? [binary] : ['env', `GOMAXPROCS=${goMaxProcs}`, binary];

function configuration(options: NatsServerOptions, portsDir: string): string {
  const storeBytes = options.maxStoreBytes ?? DEFAULT_MAX_STORE_BYTES;
  return [
    'host: "127.0.0.1"',
    `port: ${options.port === undefined || options.port === 0 ? -1 : options.port}`,
    `ports_file_dir: ${JSON.stringify(portsDir)}`,
    // Four times the largest event: nothing bigger belongs here.
    'max_payload: 1MB',
    'jetstream {',
    `  store_dir: ${JSON.stringify(options.storeDir)}`,
    '  max_memory_store: 64MB',
    `  max_file_store: ${storeBytes}`,
    '}',
    '',
  ].join('\n');
}

interface Running {
  readonly pid: Promise<number>;
  readonly exited: NatsServer['exited'];
  readonly hasExited: () => boolean;
  readonly stop: () => Promise<void>;
}

function watch(keeper: ChildProcess, clock: Clock): Running {
  let asked = false;
  let ended = false;
  let serverPid: number | undefined;
  const pid = new Promise<number>((resolve, reject) => {
    keeper.once('message', (message) => {
      serverPid = (message as { pid: number }).pid;
      resolve(serverPid);
    });
    keeper.once('exit', () => reject(new Error('it ended before it listened')));
    keeper.once('error', reject);
  });
  const exited = new Promise<{ asked: boolean; code: number | null }>((resolve) => {
    keeper.once('exit', (code, signal) => {
      ended = true;
      // Whoever killed the keeper alone left the server without one.
      if (signal !== null && serverPid !== undefined) killQuietly(serverPid);
      resolve({ asked, code });
    });
  });
  const stop = async (): Promise<void> => {
    asked = true;
    if (!ended && keeper.connected) keeper.disconnect();
    const limit = new AbortController();
    await Promise.race([
      exited.finally(() => limit.abort()),
      clock.sleep(STOP_LIMIT_MS, limit.signal).then(
        () => killQuietly(-(keeper.pid as number)),
        () => undefined,
      ),
    ]);
    await exited;
  };
  return { pid, exited, hasExited: () => ended, stop };
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** The client URL out of the ports file, which nats-server writes once it listens. */
async function listening(folder: string, running: Running, clock: Clock): Promise<string> {
  const deadlineMs = clock.monotonicMs() + START_LIMIT_MS;
  while (clock.monotonicMs() < deadlineMs) {
    if (running.hasExited()) throw new Error('it ended before it listened');
    const [file] = await readdir(folder);
    const text = file === undefined ? '' : await readFile(join(folder, file), 'utf8');
    const url = /"nats":\["(nats:\/\/[^"]+)"/.exec(text)?.[1];
    if (url !== undefined) return url;
    await clock.sleep(POLL_MS);
  }
  throw new Error(`it did not listen within ${START_LIMIT_MS} ms`);
}

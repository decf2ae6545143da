import { spawn, type ChildProcess } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { eventSource, eventType } from '#eventing/contracts/catalog.ts';
import { eventToBinary } from '#eventing/contracts/codec.ts';
import type { Clock } from '#kernel/core/clock.ts';
import {
  readListeningMessage,
  type ListenAddress,
  type ListeningMessage,
} from '#kernel/core/listening-message.ts';

/** One way to start data-processing. */
export interface StartArm {
  readonly name: string;
  /** Of Node: flags and program. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface StartPlace {
  readonly root: string;
  /** Holds `store.db`, with the windows that events name. */
  readonly folder: string;
  /** Its windows are used once each. */
  readonly window: number;
}

/** ms since the process was spawned. */
export interface MeasuredStart {
  /** The runtime was up. */
  readonly bootedMs: number;
  readonly loadedMs: number;
  readonly listeningMs: number;
  /** The first event was answered. */
  readonly firstMs: number;
  /** CPU time of all its threads until then; NaN where there is no /proc. */
  readonly cpuMs: number;
}

/**
 * Starts a stage, has it handle one event (it reads the window, stores a result, emits, answers) and ends
 * it in order.
 */
export async function measureStart(
  arm: StartArm,
  { root, folder, window }: StartPlace,
  clock: Clock,
  stay: Stay = NO_STAY,
): Promise<MeasuredStart> {
  const socketPath = join(folder, `${window}.sock`);
  const env = { ...arm.env, LISTEN_SOCKET: socketPath, STORE_URL: storeUrl(folder) };
  const spawnedMs = clock.monotonicMs();
  const child = spawn(process.execPath, arm.argv, {
    cwd: root,
    env,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const { listening, ended } = watch(child, arm);
  try {
    const { timings } = await listening;
    const listeningMs = clock.monotonicMs() - spawnedMs;
    stay.onListening();
    const status = await post({ socketPath }, window);
    if (status !== 204) throw new Error(`${arm.name} answered ${status} to its first event`);
    const firstMs = clock.monotonicMs() - spawnedMs;
    stay.onFirst();
    const cpuMs = await threadsCpuMs(child.pid ?? 0);
    const { originMs = 0, bootedMs = 0, loadedMs = 0 } = timings ?? {};
    return {
      bootedMs: bootedMs - originMs,
      loadedMs: loadedMs - originMs,
      listeningMs,
      firstMs,
      cpuMs,
    };
  } finally {
    await stay.until;
    child.kill('SIGTERM');
    await ended;
  }
}

/** For starts side by side: the end of one must not disturb the start of the next. */
export interface Stay {
  readonly onListening: () => void;
  readonly onFirst: () => void;
  readonly until: Promise<void>;
}

const NO_STAY: Stay = { onListening: () => {}, onFirst: () => {}, until: Promise.resolve() };

export const storeUrl = (folder: string): string => `sqlite:${join(folder, 'store.db')}`;

function watch(child: ChildProcess, { name }: StartArm) {
  let said = '';
  child.stderr?.on('data', (piece: Buffer) => (said = (said + piece.toString()).slice(-2_000)));
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
    child.once('error', () => resolve());
  });
  const listening = new Promise<ListeningMessage>((resolve, reject) => {
    child.on('message', (message) => {
      const heard = readListeningMessage(message);
      if (heard !== undefined) resolve(heard);
    });
    void ended.then(() => reject(new Error(`${name} did not start: ${said}`)));
  });
  return { listening, ended };
}

function post(address: ListenAddress, window: number): Promise<number | undefined> {
  const { headers, body } = eventToBinary({
    id: `data-provider/bench/s1/${window}/1`,
    source: eventSource('data-provider'),
    type: eventType('window.ready.v1'),
    subject: 'bench',
    datacontenttype: 'application/json',
    extensions: { partitionkey: 'bench' },
    data: Buffer.from(JSON.stringify({ vehicle: 'bench', session: 's1', window, revision: 1 })),
  });
  return new Promise((resolve, reject) => {
    const call = request({ ...address, method: 'POST', headers, agent: false }, (answer) => {
      answer.resume();
      answer.once('end', () => resolve(answer.statusCode));
    });
    call.once('error', reject);
    call.end(body);
  });
}

/** From the scheduler's account of each thread, in ns; `stat` counts in hundredths of a second. */
export async function threadsCpuMs(pid: number): Promise<number> {
  if (process.platform !== 'linux') return Number.NaN;
  const tasks = `/proc/${pid}/task`;
  let sumMs = 0;
  for (const thread of await readdir(tasks)) {
    const [onCpuNs] = (await readFile(`${tasks}/${thread}/schedstat`, 'utf8')).split(' ');
    sumMs += Number(onCpuNs) / 1e6;
  }
  return sumMs;
}

import { spawn, type ChildProcess } from 'node:child_process';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { eventSource, eventType } from '#eventing/contracts/catalog.ts';
import { eventToBinary } from '#eventing/contracts/codec.ts';
import { readListeningMessage } from '#kernel/core/listening-message.ts';
import { storeUrl, threadsCpuMs } from '#loadtest/bench/cold-start/stage-start.ts';

/** One way to trace data-processing. */
export interface TracingArm {
  readonly name: string;
  /** Of Node: flags and program. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Share of events whose trace is sampled. */
  readonly sampled: number;
}

/** Requests under way at once: the stage's container concurrency in the manifests. */
const AT_ONCE = 4;

/** A stage's process that handles events which are sent to it. */
export class StageUnderLoad {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  readonly #socketPath: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  readonly #sampled: number;
  #sent = 0;

  private constructor(
    child: ChildProcess,
    ended: Promise<void>,
    socketPath: string,
    sampled: number,
  ) {
    this.#child = child;
    this.#ended = ended;
    this.#socketPath = socketPath;
    this.#sampled = sampled;
  }

  static async start(arm: TracingArm, root: string, folder: string): Promise<StageUnderLoad> {
    const socketPath = join(folder, 's.sock');
    const child = spawn(process.execPath, arm.argv, {
      cwd: root,
      env: { ...arm.env, LISTEN_SOCKET: socketPath, STORE_URL: storeUrl(folder) },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    let said = '';
    child.stderr?.on('data', (piece: Buffer) => (said = (said + piece.toString()).slice(-2_000)));
    const ended = new Promise<void>((resolve) => {
      child.once('close', () => resolve());
      child.once('error', () => resolve());
    });
    await new Promise<void>((resolve, reject) => {
      child.on('message', (message) => {
        if (readListeningMessage(message) !== undefined) resolve();
      });
      void ended.then(() => reject(new Error(`${arm.name} did not start: ${said}`)));
    });
    return new StageUnderLoad(child, ended, socketPath, arm.sampled);
  }

  /** CPU time of its threads while it handled so many events, µs an event. */
  async cpuUsOf(events: number, windowOf: (event: number) => number): Promise<number> {
    const pid = this.#child.pid ?? 0;
    const beforeMs = await threadsCpuMs(pid);
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next < events) {
        const window = windowOf(next++);
        const status = await this.#post(window);
        if (status !== 204) throw new Error(`the stage answered ${status}`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    return ((await threadsCpuMs(pid)) - beforeMs) * (1_000 / events);
  }

  async stop(): Promise<void> {
    this.#agent.destroy();
    this.#child.kill('SIGTERM');
    await this.#ended;
  }

  #post(window: number): Promise<number | undefined> {
    this.#sent += 1;
    // Evenly: of a hundred events one, if 1 % are sampled.
    const isSampled =
      Math.floor(this.#sent * this.#sampled) > Math.floor((this.#sent - 1) * this.#sampled);
    const id = this.#sent.toString(16).padStart(16, '0');
    const { headers, body } = eventToBinary({
      id: `data-provider/bench/s1/${window}/1`,
      source: eventSource('data-provider'),
      type: eventType('window.ready.v1'),
      subject: 'bench',
      datacontenttype: 'application/json',
      extensions: {
        partitionkey: 'bench',
        traceparent: `00-${id}${id}-${id}-${isSampled ? '01' : '00'}`,
      },
      data: Buffer.from(JSON.stringify({ vehicle: 'bench', session: 's1', window, revision: 1 })),
    });
    const options = { socketPath: this.#socketPath, agent: this.#agent, method: 'POST', headers };
    return new Promise((resolve, reject) => {
      const call = request(options, (answer) => {
        answer.resume();
        answer.once('end', () => resolve(answer.statusCode));
      });
      call.once('error', reject);
      call.end(body);
    });
  }
}

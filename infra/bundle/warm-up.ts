import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '#kernel/core/clock.ts';
import {
  readListeningMessage,
  type ListenAddress,
  type ListeningMessage,
} from '#kernel/core/listening-message.ts';
import { sha256Hex } from '#kernel/system/sha256.ts';
import { warmRequests, type WarmRequest } from './warm-requests.ts';

const MAX_WARM_UP_MS = 20_000;
const MAX_ERROR_CHARACTERS = 2_000;

export interface WarmUpOptions {
  readonly clock: Clock;
  readonly node: string;
  readonly root: string;
}

/**
 * Demands to run with, until one suits the stage. In place of its work, a stage stores and emits without
 * needing facts to work on; one for whose work nothing can stand does as much as it can with nothing.
 */
const DEMANDS = ['work:0.01ms@instead', 'work:0.01ms@before'] as const;

/**
 * Runs a bundled stage once, asks it a few things and ends it in order, which makes it keep the code that
 * V8 compiled for it.
 *
 * Returns undefined, or why it did not come to a clean end; then the bundle works all the same, slower.
 */
export async function warmUp(program: string, options: WarmUpOptions): Promise<string | undefined> {
  let failure: string | undefined;
  for (const demand of DEMANDS) {
    failure = await runOnce(program, demand, options);
    if (failure === undefined) break;
  }
  return failure;
}

async function runOnce(
  program: string,
  demand: string,
  options: WarmUpOptions,
): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'tachograph-warm-'));
  const sink = await startSink();
  const child = spawnStage(program, { folder, demand, sinkUrl: sink.url }, options);
  const tooLong = new AbortController();
  try {
    return await Promise.race([
      askAndEnd(child),
      options.clock
        .sleep(MAX_WARM_UP_MS, tooLong.signal)
        .then(() => `it took more than ${MAX_WARM_UP_MS} ms`),
    ]);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    tooLong.abort();
    child.process.kill('SIGKILL');
    await child.ended;
    await sink.close();
    await rm(folder, { recursive: true, force: true });
  }
}

interface StageProcess {
  readonly process: ChildProcess;
  readonly listening: Promise<ListeningMessage>;
  /** Exit code or signal, and what it said on stderr. Never rejects. */
  readonly ended: Promise<{ readonly end: number | string | null; readonly said: string }>;
}

function spawnStage(
  program: string,
  {
    folder,
    demand,
    sinkUrl,
  }: { readonly folder: string; readonly demand: string; readonly sinkUrl: string },
  { node, root }: WarmUpOptions,
): StageProcess {
  const child = spawn(node, [program], {
    cwd: root,
    env: {
      LISTEN_SOCKET: join(folder, 's.sock'),
      STORE_URL: `sqlite:${join(folder, 'store.db')}`,
      FILES_URL: 'store:',
      K_SINK: sinkUrl,
      ENGINEER_TOKEN_SHA256: sha256Hex('warm-up'),
      DEMAND: demand,
      BUNDLE_WARM_UP: '1',
      OTEL_EXPORTER_OTLP_ENDPOINT: sinkUrl,
      SPANS_URL: `${sinkUrl}/v1/traces`,
    },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let said = '';
  child.stderr?.on('data', (piece: Buffer) => {
    said = (said + piece.toString()).slice(-MAX_ERROR_CHARACTERS);
  });
  const ended = new Promise<{ end: number | string | null; said: string }>((resolve) => {
    child.once('close', (code, signal) => resolve({ end: signal ?? code, said }));
    child.once('error', (error) => resolve({ end: null, said: error.message }));
  });
  const listening = new Promise<ListeningMessage>((resolve, reject) => {
    child.on('message', (message) => {
      const heard = readListeningMessage(message);
      if (heard !== undefined) resolve(heard);
    });
    void ended.then(() => reject(new Error(`it did not start: ${said}`)));
  });
  return { process: child, listening, ended };
}

async function askAndEnd({ process, listening, ended }: StageProcess): Promise<string | undefined> {
  const { address } = await listening;
  for (const ask of warmRequests()) await send(address, ask);
  process.kill('SIGTERM');
  const { end, said } = await ended;
  return end === 0 ? undefined : `it ended with ${end ?? 'an error'}: ${said}`;
}

/** Resolves when the answer is complete; any answer will do. */
function send(address: ListenAddress, { method, path, headers, body }: WarmRequest): Promise<void> {
  return new Promise((resolve, reject) => {
    const call = request({ ...address, method, path, headers, agent: false }, (answer) => {
      answer.resume();
      answer.once('end', resolve);
      answer.once('error', reject);
    });
    call.once('error', reject);
    call.end(body);
  });
}

/** Takes events and spans. */
async function startSink(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server: Server = createServer((asked, answer) => {
    asked.resume();
    asked.once('end', () =>
      answer.writeHead(asked.url?.startsWith('/v1/') === true ? 200 : 202).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

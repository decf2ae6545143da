import { fork, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readListeningMessage, type ListeningMessage } from '../core/listening-message.ts';

const ENTRY = fileURLToPath(new URL('../../data-provider/main.ts', import.meta.url));
let folder = '';
let children: ChildProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tachograph-run-'));
  children = [];
});
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

function start(env: Readonly<Record<string, string>>) {
  const child = fork(ENTRY, [], {
    env: { PORT: '0', STORE_URL: `sqlite:${join(folder, 'store.db')}`, ...env },
    execArgv: [],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  children.push(child);
  let text = '';
  child.stderr?.on('data', (piece: Buffer) => (text += piece.toString()));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const listening = new Promise<ListeningMessage | undefined>((resolve) => {
    child.once('message', (message) => resolve(readListeningMessage(message)));
    void ended.then(() => resolve(undefined));
  });
  return { child, ended, listening, said: () => text };
}

const healthzStatus = (options: { readonly socketPath: string }): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    request({ ...options, path: '/healthz' }, ({ statusCode }) => resolve(statusCode))
      .once('error', reject)
      .end();
  });

test('a stage with LISTEN_SOCKET listens there, says so, and removes the socket at its end', async () => {
  const socketPath = join(folder, 's.sock');
  const { child, ended, listening } = start({ LISTEN_SOCKET: socketPath });
  const message = await listening;
  expect(message?.address).toEqual({ socketPath });
  expect(await healthzStatus({ socketPath })).toBe(200);
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
  expect(existsSync(socketPath)).toBe(false);
});

test('a stage says when it began, had booted, was loaded and listened, in that order', async () => {
  const { listening } = start({});
  const message = await listening;
  expect(message?.address).toEqual({ port: expect.any(Number) });
  const { originMs = 0, bootedMs = 0, loadedMs = 0, listeningMs = 0 } = message?.timings ?? {};
  const moments = [originMs, bootedMs, loadedMs, listeningMs];
  expect(moments).toEqual(moments.toSorted((a, b) => a - b));
  expect(new Set(moments).size).toBe(4);
});

test('a stage whose socket cannot be made ends with code 1 and says nothing', async () => {
  const { ended, listening } = start({ LISTEN_SOCKET: join(folder, 'absent', 's.sock') });
  expect(await listening).toBeUndefined();
  expect(await ended).toBe(1);
});

interface Collected {
  readonly path: string | undefined;
  readonly type: string | undefined;
  readonly body: Buffer;
}

/** A collector of spans; `answers` false: it takes them and says nothing. */
async function startCollector(answers: boolean) {
  const collected: Collected[] = [];
  const server = createServer((asked, answer) => {
    const pieces: Buffer[] = [];
    asked.on('data', (piece: Buffer) => pieces.push(piece));
    asked.on('end', () => {
      const { url: path, headers } = asked;
      collected.push({ path, type: headers['content-type'], body: Buffer.concat(pieces) });
      if (answers) answer.writeHead(200).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = (): Promise<unknown> => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return { collected, url: `http://127.0.0.1:${port}`, close };
}

const postEvent = (options: { readonly socketPath: string }): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const headers = {
      'ce-specversion': '1.0',
      'ce-id': 'a/b',
      'ce-source': '/test',
      'ce-type': 'unheard-of',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    };
    const call = request({ ...options, method: 'POST', headers, agent: false }, (answer) => {
      answer.resume();
      answer.once('end', () => resolve(answer.statusCode));
    });
    call.once('error', reject).end();
  });

test('a stage with a collector sends its last spans when it is stopped, in protobuf', async () => {
  const collector = await startCollector(true);
  const socketPath = join(folder, 's.sock');
  const { child, ended, listening } = start({
    LISTEN_SOCKET: socketPath,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test-bed',
  });
  await listening;
  expect(await postEvent({ socketPath })).toBe(204);
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
  await collector.close();
  const of = (path: string) => collector.collected.filter((one) => one.path === path);
  const [batch, ...more] = of('/v1/traces');
  expect(more).toEqual([]);
  // The metrics as well, once: their interval is a minute.
  expect(of('/v1/metrics')).toHaveLength(1);
  expect(batch).toMatchObject({ path: '/v1/traces', type: 'application/x-protobuf' });
  const trace = Buffer.from('0af7651916cd43dd8448eb211c80319c', 'hex');
  for (const part of [trace, 'handle', 'data-provider', 'test-bed', 'unknownType']) {
    expect(batch?.body.includes(part), String(part)).toBe(true);
  }
});

test('a stage whose collector says nothing ends in time all the same, and says what was lost', async () => {
  const collector = await startCollector(false);
  const socketPath = join(folder, 's.sock');
  const { child, ended, listening, said } = start({
    LISTEN_SOCKET: socketPath,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    DRAIN_MS: '1000',
  });
  await listening;
  await postEvent({ socketPath });
  child.kill('SIGTERM');
  // Not 1, as when the whole stop takes too long.
  expect(await ended).toBe(0);
  expect(said()).toContain('spans were not delivered');
  await collector.close();
});

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { natsForTests } from '#eventing/testing/nats-for-tests.ts';
import { silentLog } from '#kernel/system/log.ts';
import { startCluster, type ClusterOptions, type LocalCluster } from './cluster.ts';
import { isAlive } from '#infra/local/replicas/is-alive.ts';
import { pidsOf, until } from './testing/processes.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const found = await natsForTests();
const nats = { attempts: [], ...(found.binary === undefined ? {} : { binary: found.binary }) };
const usable = found.binary !== undefined;
const run = test.skipIf(!usable);

const folders: string[] = [];
const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'tachograph-cluster-'));
  folders.push(folder);
  return folder;
};

const options = (over: Partial<ClusterOptions> = {}): ClusterOptions => ({
  root,
  overlay: 'infra/local/fixtures/pipeline',
  dataDir: newFolder(),
  configMaps: { lab: { greeting: 'from the caller' } },
  secrets: { 'lab-secret': { word: 'sesame' } },
  env: process.env,
  nats,
  log: silentLog,
  ...over,
});

interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

async function call(method: 'GET' | 'POST', url: string, body = ''): Promise<Answer> {
  const sent = method === 'POST' ? { method, body } : { method };
  const answer = await request(url, sent);
  const text = await answer.body.text();
  const { headers } = answer;
  return { status: answer.statusCode, body: text === '' ? '' : JSON.parse(text), headers };
}

let cluster: LocalCluster;
let dataDir: string;
beforeAll(async () => {
  if (!usable) return;
  dataDir = newFolder();
  cluster = await startCluster(options({ dataDir }));
});
afterAll(async () => {
  await cluster?.stop();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const started: LocalCluster[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((one) => one.stop()));
});

run('LocalCluster routes by path and by Host header, and names the Services it knows', async () => {
  expect((await call('GET', `${cluster.serviceUrl('face')}/events`)).status).toBe(200);
  const byHost = await request(`${cluster.gatewayUrl}/env`, {
    headers: { host: 'face.lab.svc.cluster.local' },
  });
  expect(byHost.statusCode).toBe(200);
  await byHost.body.dump();
  const unknown = await call('GET', `${cluster.gatewayUrl}/nobody/x`);
  expect(unknown.status).toBe(404);
  expect(unknown.body).toMatchObject({
    error: { code: 'SERVICE_UNKNOWN', value: 'nobody', known: 'face, worker' },
  });
});

run('a stage has its own variables and nothing else of the parent', async () => {
  process.env['TACHOGRAPH_TEST_SECRET'] = 'do not pass on';
  const { body } = await call('GET', `${cluster.serviceUrl('face')}/env`);
  delete process.env['TACHOGRAPH_TEST_SECRET'];
  const { env } = body as { env: Record<string, string> };
  expect(env).toMatchObject({
    GREETING: 'from the caller',
    WORD: 'sesame',
    K_SERVICE: 'face',
    K_SINK: cluster.brokerUrl,
    PORT: '0',
  });
  const own = ['GREETING', 'K_SERVICE', 'K_SINK', 'LISTEN_SOCKET', 'PORT', 'WORD'];
  const passedOn = ['PATH', 'TZ', 'LANG', 'TMPDIR', 'NODE_COMPILE_CACHE', 'LOG_LEVEL'];
  // How its channel speaks, set by Node itself.
  const known = new Set([...own, ...passedOn, 'NODE_CHANNEL_SERIALIZATION_MODE']);
  expect(Object.keys(env).filter((name) => !known.has(name))).toEqual([]);
});

run('a stage that no SinkBinding selects has no K_SINK', async () => {
  const { body } = await call('GET', `${cluster.serviceUrl('worker')}/env`);
  expect((body as { env: Record<string, string> }).env['K_SINK']).toBeUndefined();
});

run('an event emitted by a stage reaches the Service that a Trigger names', async () => {
  expect((await call('POST', `${cluster.serviceUrl('face')}/emit`, 'e-1')).status).toBe(202);
  const received = await until(async () => {
    const { body } = await call('GET', `${cluster.serviceUrl('worker')}/events`);
    return (body as { id: string }[]).find(({ id }) => id === 'e-1');
  });
  expect(received).toEqual({ type: 'test.emitted.v1', id: 'e-1', body: 'data of e-1' });
});

run('applyTrigger delivers to a URI of the caller until it is removed', async () => {
  const ids: (string | undefined)[] = [];
  const sink = createServer((incoming: IncomingMessage, response) => {
    ids.push(incoming.headers['ce-id']?.toString());
    incoming.resume();
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => sink.listen(0, '127.0.0.1', resolve));
  const { port } = sink.address() as AddressInfo;
  try {
    await cluster.applyTrigger({
      apiVersion: 'eventing.knative.dev/v1',
      kind: 'Trigger',
      metadata: { name: 'watcher', namespace: 'lab' },
      spec: {
        broker: 'default',
        filter: { attributes: { type: 'test.emitted.v1' } },
        subscriber: { uri: `http://127.0.0.1:${port}/` },
      },
    });
    await call('POST', `${cluster.serviceUrl('face')}/emit`, 'e-2');
    await until(() => ids.includes('e-2'));
    await cluster.removeTrigger('watcher');
  } finally {
    sink.close();
    sink.closeAllConnections();
  }
});

run('a crashed stage is started again, and requests meanwhile wait for it', async () => {
  const before = await call('GET', `${cluster.serviceUrl('worker')}/env`);
  const crash = await call('POST', `${cluster.serviceUrl('worker')}/crash`);
  expect(crash.status).toBe(503);
  expect(crash.headers['retry-after']).toBe('1');
  const after = await call('GET', `${cluster.serviceUrl('worker')}/env`);
  expect(after.status).toBe(200);
  const pid = (answer: Answer): number => (answer.body as { pid: number }).pid;
  expect(pid(after)).not.toBe(pid(before));
  const { services } = await cluster.status();
  const worker = services.find(({ name }) => name === 'worker')?.replicas[0];
  expect(worker).toMatchObject({ phase: 'ready', restarts: 1, lastEnd: 'exit code 3' });
});

run(
  'startCluster on a data folder in use rejects with the holder and leaves it alone',
  async () => {
    await expect(startCluster(options({ dataDir }))).rejects.toMatchObject({
      code: 'CLUSTER_LOCKED',
      fields: { pid: process.pid },
    });
    expect((await call('GET', `${cluster.serviceUrl('face')}/events`)).status).toBe(200);
  },
);

run(
  'stop ends every process and gives the port and the lock back; again it does nothing',
  async () => {
    const folder = newFolder();
    const one = await startCluster(options({ dataDir: folder }));
    const status = await one.status();
    const pids = pidsOf(status);
    expect(pids).toHaveLength(3);
    await Promise.all([one.stop(), one.stop()]);
    await one.stop();
    expect(pids.filter(isAlive)).toEqual([]);
    expect(existsSync(join(folder, 'cluster.lock'))).toBe(false);
    await expect(request(one.gatewayUrl)).rejects.toThrow(/ECONNREFUSED/);
    const again = await startCluster(options({ dataDir: folder }));
    started.push(again);
  },
);

run(
  'startCluster with a stage that does not start rejects, names its log and leaves nothing',
  async () => {
    const folder = newFolder();
    const overlay = 'infra/local/fixtures/broken';
    await expect(startCluster(options({ dataDir: folder, overlay }))).rejects.toMatchObject({
      code: 'STAGE_START_FAILED',
      fields: { service: 'worker', detail: 'exit code 9', log: join(folder, 'logs/worker.log') },
    });
    expect(readFileSync(join(folder, 'logs/worker.log'), 'utf8')).toContain('this stage is broken');
    expect(existsSync(join(folder, 'cluster.lock'))).toBe(false);
  },
);

run(
  'startCluster aborted at any of its steps rejects with the reason and leaves no lock',
  async () => {
    for (const step of ['nats-server', 'gateway', 'brokers and triggers', 'stages']) {
      const folder = newFolder();
      const controller = new AbortController();
      const starting = startCluster(
        options({
          dataDir: folder,
          signal: controller.signal,
          onEvent: (event) => {
            if (event.kind === 'starting' && event.what === step) {
              controller.abort(new Error(`aborted at ${step}`));
            }
          },
        }),
      );
      await expect(starting).rejects.toThrow(`aborted at ${step}`);
      expect(existsSync(join(folder, 'cluster.lock'))).toBe(false);
    }
  },
);

run(
  'startCluster without a value that a Service refers to names Secret, key, file and line',
  async () => {
    const overlay = 'infra/local/fixtures/unresolved';
    await expect(startCluster(options({ overlay }))).rejects.toThrow(
      /^infra\/local\/fixtures\/pipeline\/services\.yaml:\d+: there is no Secret "lab-secret" with the key "nothing"/,
    );
  },
);

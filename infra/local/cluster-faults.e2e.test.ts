import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { natsForTests } from '#eventing/testing/nats-for-tests.ts';
import { must } from '#kernel/core/assert.ts';
import { silentLog } from '#kernel/system/log.ts';
import { RECORD_FILES } from './cluster-recorder.ts';
import type { ReplicaRow } from './cluster-records.ts';
import { startCluster, type LocalCluster } from './cluster.ts';
import { until } from './testing/processes.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const found = await natsForTests();
const run = test.skipIf(found.binary === undefined);

const folder = mkdtempSync(join(tmpdir(), 'tachograph-faults-'));
let cluster: LocalCluster;
let ingress: Pool;
let path: string;

beforeAll(async () => {
  if (found.binary === undefined) return;
  cluster = await startCluster({
    root,
    overlay: 'infra/local/fixtures/faults',
    dataDir: folder,
    recordDir: folder,
    configMaps: { lab: { folder } },
    secrets: {},
    env: process.env,
    nats: { binary: found.binary, attempts: [] },
    log: silentLog,
  });
  const { origin, pathname } = new URL(cluster.brokerUrl);
  ingress = new Pool(origin, { connections: 64 });
  path = pathname;
});
afterAll(async () => {
  await ingress?.close();
  await cluster?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Hands an event to the broker; false: it was not taken, try again. */
async function publish(id: string, body = 'work'): Promise<boolean> {
  const answer = await ingress.request({
    method: 'POST',
    path,
    headers: {
      'ce-specversion': '1.0',
      'ce-id': id,
      'ce-source': '/test',
      'ce-type': 'test.work.v1',
      'content-type': 'text/plain',
    },
    body,
  });
  await answer.body.dump();
  return answer.statusCode === 202;
}

const done = (): Set<string> => {
  const file = join(folder, 'done');
  return new Set(existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []);
};

const replicaRows = (): ReplicaRow[] =>
  readFileSync(join(folder, RECORD_FILES.replicas), 'utf8')
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as ReplicaRow);

run(
  'a replica that is killed in the middle of a delivery: the event is delivered again',
  async () => {
    await expect(publish('dies', 'die')).resolves.toBe(true);
    await until(() => done().has('dies'));
    expect(replicaRows().map(({ why }) => why)).toContain('signal SIGKILL');
  },
);

run(
  'a replica that hangs: the delivery is given up and goes to another one',
  { timeout: 120_000 },
  async () => {
    await expect(publish('hangs', 'hang')).resolves.toBe(true);
    await until(() => done().has('hangs'), 90_000);
  },
);

run(
  'a replica that leaks memory past its limit is ended, and the event delivered again',
  async () => {
    await expect(publish('leaks', 'leak')).resolves.toBe(true);
    await until(() => done().has('leaks'), 40_000);
    await until(() => replicaRows().some(({ why }) => why === 'memory limit'), 40_000);
  },
);

run(
  'a stage that never becomes ready: its callers get a clear 503, and nothing else suffers',
  async () => {
    const gateway = new Pool(cluster.gatewayUrl);
    const answer = await gateway.request({ method: 'GET', path: '/mute/' });
    expect(answer.statusCode).toBe(503);
    expect(answer.headers['retry-after']).toBe('1');
    await expect(answer.body.json()).resolves.toMatchObject({
      error: { code: 'SERVICE_STARTING' },
    });
    await gateway.close();
    await expect(publish('beside')).resolves.toBe(true);
    await until(() => done().has('beside'));
  },
);

run(
  'a nats-server that is killed: what was acknowledged is served, the rest is told to come back',
  async () => {
    const { natsPid } = await cluster.status();
    const ids = Array.from({ length: 60 }, (_, index) => `restart-${index}`);
    const sent = ids.map(async (id, index) => {
      if (index === 20) process.kill(must(natsPid, 'the pid of nats-server'), 'SIGKILL');
      await until(() => publish(id).catch(() => false), 40_000);
    });
    await Promise.all(sent);
    await until(() => ids.every((id) => done().has(id)), 40_000);
  },
);

run(
  'ten thousand events at once against three replicas: all served, within bounded memory',
  async () => {
    const before = process.memoryUsage().rss;
    const ids = Array.from({ length: 10_000 }, (_, index) => `many-${index}`);
    let most = 0;
    let next = 0;
    const publisher = async (): Promise<void> => {
      for (let id = ids[next++]; id !== undefined; id = ids[next++]) {
        const own = id;
        await until(() => publish(own), 40_000);
        most = Math.max(most, process.memoryUsage().rss);
      }
    };
    await Promise.all(Array.from({ length: 64 }, publisher));
    await until(() => {
      most = Math.max(most, process.memoryUsage().rss);
      const known = done();
      return ids.every((id) => known.has(id));
    }, 100_000);
    const ready = replicaRows().filter(({ service }) => service === 'worker');
    expect(ready.some(({ phase }) => phase === 'ready')).toBe(true);
    // Test runner, cluster, ingress and publishers are one process; the events wait in the stream.
    expect((most - before) / 1024 ** 2).toBeLessThan(400);
    const { eventing } = await cluster.status();
    const { inFlight } = must(eventing.triggers['work'], 'the Trigger');
    expect(inFlight).toBeLessThanOrEqual(6);
  },
);

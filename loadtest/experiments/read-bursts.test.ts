import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ServiceStatus } from '#infra/local/replicas/pool-workload.ts';
import { readBursts } from './read-bursts.ts';

let folder = '';
let servers: Server[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tachograph-bursts-'));
  servers = [];
});
afterEach(async () => {
  for (const server of servers) await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true });
});

/** A replica that answers `status`, with the path it was asked for as the instance. */
async function replica(name: string, status: number): Promise<ServiceStatus['replicas'][number]> {
  const socketPath = join(folder, `${name}.sock`);
  const server = createServer((request, response) => {
    response.writeHead(status).end(JSON.stringify({ instance: request.url }));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  return there(name, { socketPath });
}

const there = (
  name: string,
  address: ServiceStatus['replicas'][number]['address'],
): ServiceStatus['replicas'][number] => ({
  name,
  phase: 'ready',
  node: null,
  pid: 1,
  address,
  restarts: 0,
  lastEnd: undefined,
});

test('readBursts: every replica with a demand by itself, from where it was read to', async () => {
  const services: ServiceStatus[] = [
    { name: 'campaign', replicas: [await replica('campaign-0', 404)] },
    { name: 'export', replicas: [await replica('export-0', 200), await replica('export-1', 200)] },
  ];
  const found = await readBursts(services, (service) => (service === 'export' ? 'a:1,b:2' : ''));
  expect(found).toEqual([
    { stage: 'export', answer: { instance: '/bursts?after=a%3A1%2Cb%3A2' } },
    { stage: 'export', answer: { instance: '/bursts?after=a%3A1%2Cb%3A2' } },
  ]);
});

test('readBursts + a replica that has gone, or takes no requests yet: left out', async () => {
  const gone = there('export-0', { socketPath: join(folder, 'nobody.sock') });
  const services = [{ name: 'export', replicas: [gone, there('export-1', undefined)] }];
  expect(await readBursts(services, () => '')).toEqual([]);
});

test('readBursts + a replica that fails: API_REFUSED', async () => {
  const services = [{ name: 'export', replicas: [await replica('export-0', 500)] }];
  await expect(readBursts(services, () => '')).rejects.toThrow('/bursts answered 500');
});

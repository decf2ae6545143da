import { connect } from 'node:net';
import { request } from 'undici';
import { afterEach, expect, test } from 'vitest';
import { VirtualClock } from '#kernel/core/clock.ts';
import { silentLog } from '#kernel/system/log.ts';
import { Gateway } from './gateway.ts';
import {
  closeGateways,
  gateways,
  openGateway,
  rawAnswer,
  servers,
  stage,
  statusOf,
} from './testing/gateways.ts';
import { until } from '#infra/local/testing/processes.ts';

afterEach(closeGateways);

test('Gateway passes method, path, headers and body on, and the answer back', async () => {
  const { gateway, url } = await openGateway();
  const port = await stage((incoming, response) => {
    let body = '';
    incoming.on('data', (chunk: Buffer) => (body += chunk.toString()));
    incoming.on('end', () => {
      response.writeHead(418, { 'x-seen': `${incoming.method} ${incoming.url}` });
      response.end(`${incoming.headers['ce-id']?.toString()} ${body}`);
    });
  });
  gateway.path('one').setReplica('one-0', { port });
  const answer = await request(`${url}/a/b?c=d`, {
    method: 'PUT',
    headers: { 'ce-id': 'e-1' },
    body: 'hello',
  });
  expect(answer.statusCode).toBe(418);
  expect(answer.headers['x-seen']).toBe('PUT /a/b?c=d');
  expect(await answer.body.text()).toBe('e-1 hello');
});

test('Gateway streams: the first piece arrives before the answer is complete', async () => {
  const { gateway, url } = await openGateway();
  let finish = (): void => {};
  const port = await stage((_, response) => {
    response.write('first');
    finish = () => response.end(' last');
  });
  gateway.path('one').setReplica('one-0', { port });
  const answer = await request(url);
  const pieces: string[] = [];
  for await (const piece of answer.body) {
    pieces.push(String(piece));
    finish();
  }
  expect(pieces.join('')).toBe('first last');
  expect(pieces[0]).toBe('first');
});

test('Gateway says busy, not starting, where a replica is ready and no place becomes free', async () => {
  const { gateway, clock, url } = await openGateway([{ containerConcurrency: 1 }]);
  let arrived = false;
  const port = await stage(() => (arrived = true));
  gateway.path('one').setReplica('one-0', { port });
  const first = statusOf(url).catch(() => 0);
  await until(() => arrived);
  const second = request(url);
  await until(() => gateway.path('one').queued === 1);
  await clock.advance(5_000);
  const answer = await second;
  expect(answer.statusCode).toBe(503);
  expect(await answer.body.json()).toMatchObject({ error: { code: 'SERVICE_BUSY' } });
  await gateways.pop()?.stop();
  await first;
});

test.each([
  ['two Host headers', 'GET /one HTTP/1.1\r\nHost: a\r\nHost: b', '2 Host headers'],
  ['the target *', 'OPTIONS * HTTP/1.1\r\nHost: one.lab.x', 'not a path'],
  ['a whole URL as target', 'GET http://x/one HTTP/1.1\r\nHost: x', 'not a path'],
  ['TRACE', 'TRACE /one HTTP/1.1\r\nHost: x', 'TRACE'],
  ['CONNECT', 'CONNECT x:80 HTTP/1.1\r\nHost: x', 'CONNECT'],
])('Gateway answers %s with 400 and says why', async (_, head, reason) => {
  const { gateway } = await openGateway();
  gateway.path('one').setReplica('one-0', { port: await stage((__, response) => response.end()) });
  const text = await rawAnswer(gateway, `${head}\r\nConnection: close\r\n\r\n`);
  expect(text).toMatch(/^HTTP\/1\.1 400 [^]*"code":"REQUEST_INVALID"/);
  expect(text).toContain(reason);
});

test('Gateway holds a request until a replica is ready', async () => {
  const { gateway, url } = await openGateway();
  const port = await stage((_, response) => response.end('late'));
  const pending = statusOf(url);
  await until(() => gateway.path('one').queued === 1);
  gateway.path('one').setReplica('one-0', { port });
  expect(await pending).toBe(200);
});

test('Gateway answers 503 with Retry-After when no replica becomes ready in time', async () => {
  const { gateway, clock, url } = await openGateway();
  const pending = request(url);
  await until(() => gateway.path('one').queued === 1);
  await clock.advance(5_000);
  const answer = await pending;
  expect(answer.statusCode).toBe(503);
  expect(answer.headers['retry-after']).toBe('1');
  expect(await answer.body.json()).toMatchObject({ error: { code: 'SERVICE_STARTING' } });
  expect(gateway.path('one').queued).toBe(0);
});

test('Gateway lets no more than containerConcurrency through, and refuses past the queue', async () => {
  const { gateway, url } = await openGateway([{ maxWaiting: 100 }]);
  const waiting: (() => void)[] = [];
  const port = await stage((_, response) => waiting.push(() => response.end()));
  gateway.path('one').setReplica('one-0', { port });
  const answers: Promise<number>[] = [];
  for (let index = 0; index < 103; index++) answers.push(statusOf(url));
  await until(() => gateway.path('one').queued === 100);
  expect(gateway.path('one').inFlight).toBe(2);
  await until(() => waiting.length === 2);
  expect(await Promise.race(answers)).toBe(503);
  while (gateway.path('one').inFlight > 0) {
    await until(() => waiting.length > 0 || gateway.path('one').inFlight === 0);
    expect(waiting.length).toBeLessThanOrEqual(2);
    waiting.shift()?.();
  }
  const statuses = await Promise.all(answers);
  expect(statuses.filter((status) => status === 200)).toHaveLength(102);
});

test('Gateway spreads requests over the replicas that are ready, least loaded first', async () => {
  const { gateway, url } = await openGateway();
  const seen: string[] = [];
  const waiting: (() => void)[] = [];
  for (const name of ['one-0', 'one-1']) {
    const port = await stage((_, response) => {
      seen.push(name);
      waiting.push(() => response.end());
    });
    gateway.path('one').setReplica(name, { port });
  }
  const answers = [1, 2, 3, 4].map(() => statusOf(url));
  await until(() => seen.length === 4);
  expect(seen.sort()).toEqual(['one-0', 'one-0', 'one-1', 'one-1']);
  for (const finish of waiting) finish();
  expect(await Promise.all(answers)).toEqual([200, 200, 200, 200]);
});

test('Gateway breaks the request to the stage off when the caller goes away', async () => {
  const { gateway, url } = await openGateway();
  let closed = false;
  let arrived = false;
  const port = await stage((_, response) => {
    arrived = true;
    response.once('close', () => (closed = true));
  });
  gateway.path('one').setReplica('one-0', { port });
  const { hostname, port: gatewayPort, pathname } = new URL(url);
  const socket = connect(Number(gatewayPort), hostname);
  socket.write(`GET ${pathname} HTTP/1.1\r\nHost: x\r\n\r\n`);
  await until(() => arrived);
  socket.destroy();
  await until(() => closed);
  await until(() => gateway.path('one').inFlight === 0);
});

test('Gateway takes a caller that goes away while waiting out of the queue', async () => {
  const { gateway, url } = await openGateway();
  const { hostname, port: gatewayPort, pathname } = new URL(url);
  const socket = connect(Number(gatewayPort), hostname);
  socket.write(`GET ${pathname} HTTP/1.1\r\nHost: x\r\n\r\n`);
  await until(() => gateway.path('one').queued === 1);
  socket.destroy();
  await until(() => gateway.path('one').queued === 0);
});

test('Gateway answers 503 when a stage cuts the connection, and serves the next request', async () => {
  const { gateway, url } = await openGateway();
  let calls = 0;
  const port = await stage((_, response) => {
    calls += 1;
    if (calls === 1) response.destroy();
    else response.end();
  });
  gateway.path('one').setReplica('one-0', { port });
  const answer = await request(url, { method: 'POST', body: 'x' });
  expect(answer.statusCode).toBe(503);
  expect(await answer.body.json()).toMatchObject({ error: { code: 'SERVICE_UNREACHABLE' } });
  expect(await statusOf(url)).toBe(200);
});

test('Gateway repeats a GET whose connection was cut, three times in all', async () => {
  const { gateway, url } = await openGateway();
  let calls = 0;
  const port = await stage((_, response) => {
    calls += 1;
    if (calls === 3) response.end();
    else response.destroy();
  });
  gateway.path('one').setReplica('one-0', { port });
  expect(await statusOf(url)).toBe(200);
  expect(calls).toBe(3);
  expect(await statusOf(url)).toBe(503);
  expect(calls).toBe(6);
});

test('Gateway asks another replica, with the whole body, when one refuses the connection', async () => {
  const { gateway, url } = await openGateway();
  const closed = await stage(() => {});
  await new Promise<unknown>((resolve) => servers.pop()?.close(resolve));
  const port = await stage((incoming, response) => incoming.pipe(response));
  const path = gateway.path('one');
  path.setReplica('one-0', { port: closed });
  const pending = request(url, { method: 'POST', body: 'kept' });
  await until(() => path.ready === 0 && path.queued === 1);
  path.setReplica('one-0', { port });
  expect(await (await pending).body.text()).toBe('kept');
});

test('Gateway gives up on a Service after three refused connections', async () => {
  const { gateway, url } = await openGateway();
  const closed = await stage(() => {});
  await new Promise<unknown>((resolve) => servers.pop()?.close(resolve));
  for (const name of ['a', 'b', 'c', 'd']) gateway.path('one').setReplica(name, { port: closed });
  expect(await statusOf(url)).toBe(503);
  expect(gateway.path('one').ready).toBe(1);
});

test('Gateway cuts the connection when a stage ends in the middle of its answer', async () => {
  const { gateway, url } = await openGateway();
  const port = await stage((_, response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('half', () => response.destroy());
  });
  gateway.path('one').setReplica('one-0', { port });
  const answer = await request(url);
  await expect(answer.body.text()).rejects.toThrow(/closed|terminated|aborted/);
});

test('Gateway answers 504 when a stage gives no answer in time', async () => {
  const { gateway, clock, url } = await openGateway([{ timeoutMs: 100 }]);
  const port = await stage(() => {});
  gateway.path('one').setReplica('one-0', { port });
  const pending = request(url);
  await until(() => gateway.path('one').inFlight === 1);
  await clock.advance(100);
  const answer = await pending;
  expect(answer.statusCode).toBe(504);
  expect(await answer.body.json()).toMatchObject({ error: { limitMs: 100 } });
});

test('Gateway answers its status, and 404 with the known names for what is no Service', async () => {
  const { gateway } = await openGateway([{ name: 'two' }, {}]);
  const status = await request(`${gateway.url}/-/status`);
  expect(await status.body.json()).toEqual({ fine: true });
  const unknown = await request(`${gateway.url}/three`);
  expect(unknown.statusCode).toBe(404);
  expect(await unknown.body.json()).toMatchObject({ error: { value: 'three', known: 'one, two' } });
});

test('Gateway.start on a port in use throws PORT_IN_USE', async () => {
  const { gateway } = await openGateway();
  const port = Number(new URL(gateway.url).port);
  const options = { services: [], clock: new VirtualClock(), log: silentLog };
  const starting = Gateway.start({ ...options, port, status: async () => ({}) });
  await expect(starting).rejects.toMatchObject({ code: 'PORT_IN_USE', fields: { port } });
});

import { Readable } from 'node:stream';
import { request } from 'undici';
import { afterEach, expect, test } from 'vitest';
import { closeGateways, openGateway, rawAnswer, stage, statusOf } from './testing/gateways.ts';
import { until } from '#infra/local/testing/processes.ts';

afterEach(closeGateways);

const MAX_BYTES = 8_388_608;

test('Gateway delivers an answer that a stage gives without reading the body', async () => {
  const { gateway, url } = await openGateway();
  const port = await stage((_, response) => {
    response.writeHead(413, { connection: 'close' }).end('too large');
  });
  gateway.path('one').setReplica('one-0', { port });
  for (let round = 0; round < 10; round++) {
    const answer = await request(url, { method: 'POST', body: Buffer.alloc(4_000_000) });
    expect(answer.statusCode).toBe(413);
    expect(await answer.body.text()).toBe('too large');
  }
});

test.each([
  ['413 and closes', 413, { connection: 'close' }],
  ['401 and keeps the connection', 401, {}],
])('Gateway delivers a %s to the sender of the largest body', async (_, status, headers) => {
  const { gateway, url } = await openGateway();
  const port = await stage((__, response) => {
    response.writeHead(status, headers).end('refused');
  });
  gateway.path('one').setReplica('one-0', { port });
  for (let round = 0; round < 10; round++) {
    const answer = await request(url, { method: 'POST', body: Buffer.alloc(MAX_BYTES) });
    expect(answer.statusCode).toBe(status);
    expect(await answer.body.text()).toBe('refused');
  }
});

const bodies = [
  ['of known length', (bytes: Buffer): Buffer => bytes],
  ['of unknown length', (bytes: Buffer): Readable => Readable.from([bytes])],
] as const;

test.each(bodies)('Gateway passes a body %s at its limit on', async (_, bodyOf) => {
  const { gateway, url } = await openGateway();
  const port = await stage((incoming, response) => {
    let bytes = 0;
    incoming.on('data', (chunk: Buffer) => (bytes += chunk.length));
    incoming.on('end', () => response.end(String(bytes)));
  });
  gateway.path('one').setReplica('one-0', { port });
  const answer = await request(url, { method: 'POST', body: bodyOf(Buffer.alloc(MAX_BYTES)) });
  expect(await answer.body.text()).toBe(String(MAX_BYTES));
});

test.each(bodies)('Gateway answers a body %s above its limit with 413', async (_, bodyOf) => {
  const { gateway, url } = await openGateway();
  let calls = 0;
  const port = await stage((__, response) => {
    calls += 1;
    response.end();
  });
  gateway.path('one').setReplica('one-0', { port });
  for (const bytes of [MAX_BYTES + 1, 20_000_000]) {
    const answer = await request(url, { method: 'POST', body: bodyOf(Buffer.alloc(bytes)) });
    expect(answer.statusCode).toBe(413);
    expect(answer.headers['retry-after']).toBeUndefined();
    expect(await answer.body.json()).toMatchObject({
      error: { code: 'BODY_TOO_LARGE', maxBytes: MAX_BYTES },
    });
  }
  expect(calls).toBe(0);
});

test('Gateway lets no body that does not arrive hold a slot, and answers it with 408', async () => {
  const { gateway, clock, url } = await openGateway();
  const port = await stage((incoming, response) => incoming.pipe(response));
  const path = gateway.path('one');
  path.setReplica('one-0', { port });
  const head = 'POST /one HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n';
  const idle = Array.from({ length: 20 }, () => rawAnswer(gateway, head));
  await until(() => clock.sleeping === 20);
  expect(path.inFlight).toBe(0);
  const answer = await request(url, { method: 'POST', body: 'served' });
  expect(await answer.body.text()).toBe('served');
  await clock.advance(10_000);
  for (const text of await Promise.all(idle)) {
    expect(text).toMatch(/^HTTP\/1\.1 408 [^]*"code":"BODY_TIMEOUT"[^]*"limitMs":10000/);
  }
});

test('Gateway refuses more unfinished requests than its bound with 503', async () => {
  const { gateway, clock, url } = await openGateway([{}], { maxReading: 1 });
  const port = await stage((_, response) => response.end());
  gateway.path('one').setReplica('one-0', { port });
  const head = 'POST /one HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n';
  const first = rawAnswer(gateway, head);
  await until(() => clock.sleeping === 1);
  const second = await request(url, { method: 'POST', body: 'x' });
  expect(second.statusCode).toBe(503);
  expect(await second.body.json()).toMatchObject({ error: { code: 'GATEWAY_OVERLOADED', max: 1 } });
  expect(await statusOf(url)).toBe(200);
  await clock.advance(10_000);
  await first;
  expect((await request(url, { method: 'POST', body: 'x' })).statusCode).toBe(200);
});

test('Gateway refuses a body that brings all held ones above their bound, until room is made', async () => {
  const { gateway, url } = await openGateway([{}], { maxHeldBytes: 10 });
  const path = gateway.path('one');
  const post = (body: string): ReturnType<typeof request> => request(url, { method: 'POST', body });
  const waiting = post('12345');
  await until(() => path.queued === 1);
  const refused = await post('123456');
  expect(refused.statusCode).toBe(503);
  expect(refused.headers['retry-after']).toBe('1');
  path.setReplica('one-0', { port: await stage((incoming, response) => incoming.pipe(response)) });
  expect(await (await waiting).body.text()).toBe('12345');
  await until(async () => (await post('1234567890')).statusCode === 200);
});

test('Gateway passes the body of a GET on', async () => {
  const { gateway } = await openGateway();
  const port = await stage((incoming, response) => incoming.pipe(response));
  gateway.path('one').setReplica('one-0', { port });
  const head = 'GET /one HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 4';
  expect(await rawAnswer(gateway, `${head}\r\n\r\nbody`)).toMatch(/^HTTP\/1\.1 200 [^]*body/);
});

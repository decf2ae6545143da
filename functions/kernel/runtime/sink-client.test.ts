import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { VirtualClock } from '../core/clock.ts';
import { fakeSpan } from '../telemetry/testing/fake-span.ts';
import { sinkEmitter } from './emitter.ts';
import { SinkClient } from './sink-client.ts';

let server: Server | undefined;

afterEach(async () => {
  server?.closeAllConnections();
  await new Promise((resolve) => (server === undefined ? resolve(0) : server.close(resolve)));
  server = undefined;
});

interface Asked {
  readonly path: string | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
  readonly socket: Socket;
}

/** A sink that notes what it was sent and answers by `answer`. */
async function sink(answer: (response: ServerResponse, asked: Asked) => void) {
  const asked: Asked[] = [];
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      const { url: path, headers, socket } = request;
      const one = { path, headers, body, socket };
      asked.push(one);
      answer(response, one);
    });
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { asked, url: `http://127.0.0.1:${port}` };
}

const accept = (response: ServerResponse): void => void response.writeHead(202).end();
const BODY = Buffer.from('{"a":1}');

test('SinkClient.post sends headers and body to the path, and keeps its connection', async () => {
  const { asked, url } = await sink(accept);
  const client = new SinkClient(new URL(`${url}/broker/default?x=1`));
  expect(await client.post({ 'ce-id': 'a' }, BODY)).toBe(202);
  expect(await client.post({ 'ce-id': 'b' }, BODY)).toBe(202);
  await client.close();
  expect(asked.map(({ path }) => path)).toEqual(['/broker/default?x=1', '/broker/default?x=1']);
  expect(asked[0]).toMatchObject({
    body: '{"a":1}',
    headers: { 'ce-id': 'a', 'content-length': '7' },
  });
  expect(asked[0]?.socket).toBe(asked[1]?.socket);
});

test('SinkClient.post on a connection that the sink closes instead of answering: sent once more', async () => {
  let answers = 0;
  const { asked, url } = await sink((response, { socket }) => {
    answers += 1;
    if (answers === 2) socket.resetAndDestroy();
    else accept(response);
  });
  const client = new SinkClient(new URL(url));
  await client.post({ 'ce-id': 'a' }, BODY);
  expect(await client.post({ 'ce-id': 'b' }, BODY)).toBe(202);
  await client.close();
  expect(asked.map(({ headers }) => headers['ce-id'])).toEqual(['a', 'b', 'b']);
});

test('SinkClient.post on a new connection that the sink closes: rejects, and is not sent again', async () => {
  const { asked, url } = await sink((_, { socket }) => void socket.resetAndDestroy());
  const client = new SinkClient(new URL(url));
  await expect(client.post({}, BODY)).rejects.toThrow();
  await client.close();
  expect(asked).toHaveLength(1);
});

test('SinkClient.post: never more than 16 connections, the rest waits', async () => {
  const held: ServerResponse[] = [];
  const { asked, url } = await sink((response) => {
    held.push(response);
    // Answers when as many wait as there may be, and each one after.
    if (held.length >= 16) for (const one of held.splice(0)) accept(one);
  });
  const client = new SinkClient(new URL(url));
  const posts = Array.from({ length: 32 }, () => client.post({}, BODY));
  expect(await Promise.all(posts)).toEqual(Array.from({ length: 32 }, () => 202));
  await client.close();
  expect(new Set(asked.map(({ socket }) => socket)).size).toBe(16);
});

const EMISSION = {
  name: 'session.closed.v1',
  factId: 'v/s/1',
  subject: 'v',
  data: { vehicle: 'v', session: 's', revision: 1 },
} as const;
const PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const cause = (extensions: Record<string, string>) => ({
  id: 'c',
  source: '/s',
  type: 't',
  extensions,
  data: new Uint8Array(),
});

test('an emitter without tracing hands its cause’s context on: extensions and the hop’s headers', async () => {
  const { asked, url } = await sink(accept);
  const emitter = sinkEmitter('data-provider', url, new VirtualClock());
  await emitter.emit(EMISSION, cause({ traceparent: PARENT, tracestate: 'a=1', other: 'x' }));
  await emitter.close();
  expect(asked[0]?.headers).toMatchObject({
    'ce-id': 'data-provider/v/s/1',
    'ce-traceparent': PARENT,
    'ce-tachotrace': PARENT,
    traceparent: PARENT,
    tracestate: 'a=1',
  });
  expect(asked[0]?.headers).not.toHaveProperty('ce-other');
});

test('an emitter: a context that is none travels as the event’s own, not as the hop’s header', async () => {
  const { asked, url } = await sink(accept);
  const emitter = sinkEmitter('data-provider', url, new VirtualClock());
  await emitter.emit(EMISSION, cause({ traceparent: 'no context' }));
  await emitter.emit(EMISSION, undefined);
  await emitter.close();
  for (const { headers } of asked) expect(headers).not.toHaveProperty('traceparent');
});

test.each([
  ['answers 500', (response: ServerResponse) => void response.writeHead(500).end(), 'answered 500'],
  ['cuts the line', (_: ServerResponse, { socket }: Asked) => void socket.destroy(), 'hang up'],
])('an emitter whose sink %s: EMIT_FAILED', async (_, answer, detail) => {
  const { url } = await sink(answer);
  const emitter = sinkEmitter('data-provider', url, new VirtualClock());
  const failure = emitter.emit(EMISSION, undefined);
  await expect(failure).rejects.toMatchObject({ code: 'EMIT_FAILED' });
  await expect(failure).rejects.toThrow(detail);
  await emitter.close();
});

test('an emitter without a sink, or whose sink is not there: EMIT_FAILED', async () => {
  const without = sinkEmitter('export', undefined, new VirtualClock());
  await expect(without.emit(EMISSION, undefined)).rejects.toThrow('K_SINK is not set');
  const nowhere = sinkEmitter('export', 'http://127.0.0.1:1', new VirtualClock());
  await expect(nowhere.emit(EMISSION, undefined)).rejects.toMatchObject({ code: 'EMIT_FAILED' });
});

test('an emission is the phase emit until it has a connection, publish until it is answered', async () => {
  const { url } = await sink(accept);
  const span = fakeSpan();
  const emitter = sinkEmitter('export', url, new VirtualClock(), () => span);
  const data = { vehicle: 'v', session: 's', revision: 1 };
  await emitter.emit({ name: 'session.closed.v1', factId: 'v/s/1', subject: 'v', data }, undefined);
  await emitter.close();
  // Entered before the other is left: no moment between them belongs to neither.
  expect(span.told).toEqual(['enter emit', 'enter publish', 'leave emit', 'leave publish']);
});

test('an emission that fails leaves its phase', async () => {
  const { url } = await sink((response) => void response.writeHead(503).end());
  const span = fakeSpan();
  const emitter = sinkEmitter('export', url, new VirtualClock(), () => span);
  const data = { vehicle: 'v', session: 's', revision: 1 };
  const emission = { name: 'session.closed.v1', factId: 'v/s/1', subject: 'v', data } as const;
  await expect(emitter.emit(emission, undefined)).rejects.toThrow('503');
  await emitter.close();
  expect(span.told.at(-1)).toBe('leave publish');
});

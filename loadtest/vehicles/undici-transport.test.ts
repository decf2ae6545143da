import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { UndiciTransport } from './undici-transport.ts';

let server: Server | undefined;
let transport: UndiciTransport | undefined;

afterEach(async () => {
  await transport?.close();
  server?.closeAllConnections();
  server?.close();
});

interface Received {
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

async function serve(
  status: number,
  body: string,
  headers: Record<string, string> = {},
): Promise<Received[]> {
  const received: Received[] = [];
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { url, headers: sent } = request;
      received.push({ url, headers: sent, body: Buffer.concat(chunks).toString() });
      response.writeHead(status, headers).end(body);
    });
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  transport = new UndiciTransport({
    serviceUrl: `http://127.0.0.1:${port}/device-communication`,
    tokens: new Map([['veh-0001', 'secret']]),
    connections: 1,
  });
  return received;
}

const signal = new AbortController().signal;

test('UndiciTransport upload: path below the Service, headers, body, bearer token', async () => {
  const received = await serve(503, 'busy', { 'retry-after': '2' });
  const request = { vehicle: 'veh-0001', headers: { 'ce-id': 'x' }, body: Buffer.from('hello') };
  const answer = await transport?.upload(request, signal);
  expect(answer).toMatchObject({ status: 503, body: 'busy', headers: { 'retry-after': '2' } });
  expect(received[0]).toMatchObject({
    url: '/device-communication/v1/vehicles/veh-0001/batches',
    headers: { 'ce-id': 'x', authorization: 'Bearer secret' },
    body: 'hello',
  });
});

test('UndiciTransport checkIn: JSON to the vehicle own route', async () => {
  const received = await serve(200, '{"campaigns":[]}');
  expect(await transport?.checkIn('veh-0001', null, signal)).toMatchObject({ status: 200 });
  expect(received[0]).toMatchObject({
    url: '/device-communication/v1/vehicles/veh-0001/checkins',
    body: '{"campaigns":[]}',
  });
});

test('UndiciTransport with an endless answer: rejects at the limit', async () => {
  await serve(200, 'x'.repeat(1_048_577));
  await expect(transport?.checkIn('veh-0001', null, signal)).rejects.toThrow('1048576 bytes');
});

test('UndiciTransport with nobody listening: rejects', async () => {
  await serve(200, '');
  server?.close();
  server?.closeAllConnections();
  await expect(transport?.checkIn('veh-0001', null, signal)).rejects.toThrow();
});

import { createServer, type Server } from 'node:http';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { VirtualClock } from '#kernel/core/clock.ts';
import { awaitHang, probeHealth } from './liveness.ts';
import { settled } from './testing/fake-process.ts';

const ADDRESS = { port: 1 };

/** Probes whose answers are given one by one; `undefined` never comes. */
function script(answers: readonly (boolean | undefined)[]) {
  const clock = new VirtualClock();
  const asked: number[] = [];
  const stop = new AbortController();
  const probe = (_address: unknown, signal: AbortSignal): Promise<boolean> => {
    const answer = answers[asked.length];
    asked.push(clock.monotonicMs());
    if (answer !== undefined) return Promise.resolve(answer);
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve(false)));
  };
  const settings = { probe, periodMs: 10, timeoutMs: 4, failures: 2 };
  const hang = awaitHang(ADDRESS, settings, clock, stop.signal);
  return { clock, asked, stop, hang };
}

test('awaitHang: so many probes in a row without an answer', async () => {
  const { clock, asked, hang } = script([true, false, true, false, false]);
  let over = false;
  void hang.then(() => (over = true));
  await clock.advance(49);
  expect(over).toBe(false);
  await clock.advance(1);
  expect(await hang).toBe(2);
  expect([asked, clock.sleeping]).toEqual([[10, 20, 30, 40, 50], 0]);
});

test('awaitHang: an answer that does not come in time is none', async () => {
  const { clock, asked, hang } = script([undefined, undefined]);
  await clock.advance(28);
  expect(await hang).toBe(2);
  expect(asked).toEqual([10, 24]);
});

test.each([5, 12])('awaitHang ends without a hang when it is stopped after %d ms', async (ms) => {
  const { clock, stop, hang } = script([undefined]);
  await clock.advance(ms);
  stop.abort();
  expect(await hang).toBe(0);
  await settled();
  expect(clock.sleeping).toBe(0);
});

const servers: Server[] = [];
const folder = mkdtempSync(join(tmpdir(), 'tachograph-probe-'));
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function serve(where: number | string, answer: (path: string) => number | undefined) {
  const server = createServer((request, response) => {
    const status = answer(request.url ?? '');
    if (status !== undefined) response.writeHead(status).end();
  });
  servers.push(server);
  await new Promise<void>((resolve) => {
    if (typeof where === 'string') server.listen(where, resolve);
    else server.listen(where, '127.0.0.1', resolve);
  });
  return server;
}

test('probeHealth: any answer on a port or a socket is one', async () => {
  const paths: string[] = [];
  const answer = (path: string): number => {
    paths.push(path);
    return 404;
  };
  const never = new AbortController().signal;
  const onPort = await serve(0, answer);
  const { port } = onPort.address() as AddressInfo;
  expect(await probeHealth({ port }, never)).toBe(true);
  const socketPath = join(folder, 'a.sock');
  await serve(socketPath, answer);
  expect(await probeHealth({ socketPath }, never)).toBe(true);
  expect(paths).toEqual(['/healthz', '/healthz']);
});

test('probeHealth: nobody there, or no answer until it is broken off, is none', async () => {
  const never = new AbortController().signal;
  expect(await probeHealth({ socketPath: join(folder, 'none.sock') }, never)).toBe(false);
  const stop = new AbortController();
  const server = await serve(0, () => {
    stop.abort();
    return undefined;
  });
  const { port } = server.address() as AddressInfo;
  expect(await probeHealth({ port }, stop.signal)).toBe(false);
});

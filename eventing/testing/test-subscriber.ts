import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CloudEvent } from '../contracts/cloud-event.ts';
import { eventFromHttp } from '../contracts/codec.ts';

export interface TestCall {
  readonly event: CloudEvent;
  readonly headers: IncomingHttpHeaders;
  /** 0 for the first call of all. */
  readonly index: number;
  /** Resolves when the caller hangs up before it has its answer. */
  readonly hungUp: Promise<void>;
}

export interface TestAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
}

export interface TestSubscriber {
  readonly url: string;
  readonly port: number;
  readonly calls: readonly TestCall[];
  /** Calls under way, and the most there ever were. */
  readonly open: () => number;
  readonly mostOpen: () => number;
  /** Resolves when `count` calls have come in. */
  received(count: number): Promise<void>;
  stop(): Promise<void>;
}

/** An HTTP server that records the events it gets and answers as told. */
export async function startTestSubscriber(
  answer: (call: TestCall) => TestAnswer | Promise<TestAnswer>,
  port = 0,
): Promise<TestSubscriber> {
  const calls: TestCall[] = [];
  const waiters: { count: number; resolve: () => void }[] = [];
  let open = 0;
  let mostOpen = 0;
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const hungUp = new Promise<void>((resolve) => {
      response.once('close', () => {
        if (!response.writableFinished) resolve();
      });
    });
    const { headers } = request;
    const event = eventFromHttp(headers, Buffer.concat(chunks));
    const call = { event, headers, index: calls.length, hungUp };
    calls.push(call);
    mostOpen = Math.max(mostOpen, ++open);
    for (const waiter of waiters) if (calls.length >= waiter.count) waiter.resolve();
    const { status, headers: extra, body } = await answer(call);
    open--;
    response.writeHead(status, extra).end(body);
  };
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const bound = (server.address() as AddressInfo).port;
  return {
    url: `http://127.0.0.1:${bound}/`,
    port: bound,
    calls,
    open: () => open,
    mostOpen: () => mostOpen,
    received: (count) =>
      new Promise((resolve) => {
        if (calls.length >= count) resolve();
        else waiters.push({ count, resolve });
      }),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

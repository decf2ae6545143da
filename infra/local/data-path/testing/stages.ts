import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PathAnswer, PathRequest } from '#infra/local/data-path/path-request.ts';
import type { ServicePath } from '#infra/local/data-path/service-path.ts';
import { until } from '#infra/local/testing/processes.ts';
import type { TachographError } from '#kernel/core/errors.ts';
import { servers } from './gateways.ts';

/** A function in this process whose answers the test gives. */
export interface HeldStage {
  readonly socketPath: string;
  /** Requests that were begun, oldest first. */
  readonly begun: readonly string[];
  /** Requests whose connection was closed before their answer. */
  readonly cut: readonly string[];
  /** Waits for the oldest request without an answer, and answers it. */
  finish(): Promise<void>;
}

interface Held {
  readonly name: string;
  readonly response: ServerResponse;
}

/** A stage on a unix socket that answers when it is told to. */
export async function heldStage(): Promise<HeldStage> {
  const begun: string[] = [];
  const cut: string[] = [];
  const held: Held[] = [];
  const socketPath = await listen((incoming, response) => {
    const one = { name: incoming.url ?? '', response };
    begun.push(one.name);
    held.push(one);
    response.once('close', () => {
      if (response.writableEnded) return;
      cut.push(one.name);
      held.splice(held.indexOf(one), 1);
    });
  });
  return {
    socketPath,
    begun,
    cut,
    finish: async () => {
      const { name, response } = await until(() => held.shift());
      response.end(name);
    },
  };
}

let sockets = 0;
let folder: string | undefined;

/** A server on a new unix socket; `closeGateways` ends it. */
export async function listen(
  listener: (incoming: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  folder ??= mkdtempSync(join(tmpdir(), 'data-path-'));
  sockets += 1;
  const socketPath = join(folder, `${sockets}.sock`);
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  return socketPath;
}

export const get = (path: string): PathRequest => ({
  method: 'GET',
  path,
  headers: [],
  body: null,
});

export const post = (path: string, body = 'x'): PathRequest => ({
  method: 'POST',
  path,
  headers: [],
  body: Buffer.from(body),
});

/** The answer's status and body, or the error's code. */
export async function ending(answer: Promise<PathAnswer>): Promise<string> {
  return answer.then(
    ({ status, body }) => `${status} ${body.toString()}`,
    (error: TachographError) => error.code,
  );
}

/** Sends a request whose ending the test does not wait for. */
export interface Sent {
  readonly cancel: () => void;
  /** What its sink heard, in order: `head 200`, `data …`, `end`, `error CODE`. */
  readonly heard: readonly string[];
}

export function sendOn(path: ServicePath, request: PathRequest): Sent {
  const heard: string[] = [];
  const cancel = path.dispatch(request, {
    onHead: ({ status }) => heard.push(`head ${status}`),
    onData: (piece) => heard.push(`data ${piece.toString()}`),
    onEnd: () => heard.push('end'),
    onError: ({ code }) => heard.push(`error ${code}`),
  });
  return { cancel, heard };
}
